import { once } from 'node:events'
import { createServer } from 'node:http'
import { chromium, type Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { spawnSse } from './support/sse-process.ts'
import { createMercureClient } from './support/mercure-client.ts'
import { startSse } from './support/test-sse.ts'
import { toBearerHeader, MERCURE, sign, signAll } from './support/sign-tokens.ts'
import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

async function openPage(): Promise<Page> {
  const browser = await chromium.launch({ ...(await findChromium()), args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  return browser.newPage()
}

/** Serves an empty page from a separate origin. */
async function serveOrigin(): Promise<string> {
  const server = createServer((_request, response) => void response.end('<!doctype html><title>page</title>'))
  server.listen(0, 'localhost')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://localhost:${(server.address() as { port: number }).port}`
}

describe('a page in Chromium', () => {
  it('connects with EventSource, receives values, resumes after a restart, and stops after closeall', async () => {
    const args = { port: await findFreePort(), data: createTemporaryFolder(), history: 'level', retry: 100 }
    let server = await spawnSse(args)
    const page = await openPage()
    await page.goto(`${server.sse.url}/version`)
    await page.evaluate(`
      window.heard = []
      window.source = new EventSource('/wait?cid=page&topic=t')
      for (const type of ['message', 'gap', 'closed']) source.addEventListener(type, ({ data }) => heard.push(type + ' ' + data))
    `)
    const heard = () => page.evaluate('heard') as Promise<string[]>
    const state = () => page.evaluate('source.readyState')
    await waitUntil(async () => (await state()) === 1)
    // No value has arrived yet, but the page already has an id to resume from.
    await server.end('SIGKILL')
    server = await spawnSse(args)
    await server.sse.put('1\r\n</script> 😀', 't')
    await waitUntil(async () => (await heard()).length === 1)
    await server.end('SIGTERM')
    server = await spawnSse(args)
    await server.sse.put('2', 't')
    await waitUntil(async () => (await heard()).length === 2)
    await server.sse.request('GET', '/closeall')
    await waitUntil(async () => (await state()) === 2)
    expect(await heard()).toEqual(['message 1\n</script> 😀', 'message 2', 'closed closed'])
  })

  it('logs every value to its console from the frame of the comet page', async () => {
    const sse = await startSse()
    const page = await openPage()
    const logged: string[] = []
    page.on('console', (message) => void (message.type() === 'log' && logged.push(message.text())))
    // The page finishes loading, although its frame never ends.
    await page.goto(sse.url, { waitUntil: 'load' })
    await waitUntil(async () => (await sse.request('GET', '/connections')).body.streams === 1)
    const values = ['hello', '</script><script>alert(1)</script>', '"quoted" \u2028 <!-- \\n', 'é😀']
    for (const value of values) {
      await sse.put(value)
      await waitUntil(() => logged.includes(value))
    }
    await sse.request('GET', '/closeall')
    await waitUntil(() => logged.length > values.length)
    expect(logged).toEqual([...values, 'closed'])
  })

  it('of another origin uses the Mercure protocol, as its cookie or header allows', async () => {
    const [origin, stranger] = [await serveOrigin(), await serveOrigin()]
    const sse = await startSse({ ...MERCURE, corsOrigins: origin, allowedHosts: 'localhost' })
    const hub = `http://localhost:${sse.port}/.well-known/mercure`
    const { publish } = createMercureClient(sse)
    const token = await signAll()
    const reader = await sign({ subscribe: ['https://x.example/secret'], publish: ['https://x.example/by-page'] })
    const page = await openPage()
    await page.context().addCookies([
      {
        name: '__Secure-mercure_access_token',
        value: reader,
        domain: 'localhost',
        path: '/',
        secure: true,
        httpOnly: true,
        sameSite: 'Strict',
      },
    ])
    const script = `
      window.heard = { cookie: [], header: [] }
      window.refused = 0
      window.source = new EventSource('${hub}?match=*', { withCredentials: true })
      source.onmessage = ({ data }) => heard.cookie.push(data)
      source.onerror = () => refused++
      window.byHeader = (async () => {
        const reply = await fetch('${hub}?match=*&last_event_id=earliest', { headers: { authorization: 'Bearer ${reader}' } })
        window.reportedId = reply.headers.get('mercure-last-event-id')
        const text = reply.body.pipeThrough(new TextDecoderStream())
        for await (const part of text) for (const [, data] of part.matchAll(/^data: (.*)$/gm)) heard.header.push(data)
      })()
      byHeader.catch(() => refused++)
      'begun'
    `
    await page.goto(origin)
    await page.evaluate(script)
    await waitUntil(() => page.evaluate('source.readyState === 1 && window.reportedId'))
    expect(await page.evaluate('reportedId')).toBe('earliest')
    await publish(token, 'https://x.example/secret', 'mine', ['private', 'on'])
    await publish(token, 'https://x.example/other', 'not mine', ['private', 'on'])
    // With the cookie.
    expect(
      await page.evaluate(`fetch('${hub}', {
        method: 'POST',
        credentials: 'include',
        body: new URLSearchParams({ topic: 'https://x.example/by-page', data: 'by the page' }),
      }).then(({ status }) => status)`),
    ).toBe(200)
    for (const way of ['cookie', 'header']) {
      await waitUntil(() => page.evaluate(`heard.${way}.length >= 2`))
      expect(await page.evaluate(`heard.${way}`)).toEqual(['mine', 'by the page'])
    }
    expect(await page.evaluate('refused')).toBe(0)

    await page.goto(stranger)
    await page.evaluate(script)
    await waitUntil(() => page.evaluate('refused >= 2 && source.readyState === 2'))
    expect(await page.evaluate('heard')).toEqual({ cookie: [], header: [] })
    expect(await sse.readMetric('sse_streams')).toBe(0)
    expect(
      (await sse.request('GET', '/value?topic=https://x.example/secret', { headers: toBearerHeader(token) })).body,
    ).toBe('mine')
  })
})

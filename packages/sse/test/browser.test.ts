import { existsSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort, spawnSse } from './support/process.ts'
import { startSse } from './support/sse.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'

const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

function findChromium(): string {
  const found = [process.env.CHROMIUM ?? '', ...USUAL_PATHS].find((path) => path !== '' && existsSync(path))
  if (!found) throw new Error('these tests need a browser: install the package "chromium", or name it in CHROMIUM')
  return found
}

async function openPage(): Promise<Page> {
  const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  return browser.newPage()
}

describe('a page in Chromium', () => {
  it('connects with EventSource, receives, loses the server, resumes by itself, and stays away when told', async () => {
    const args = { port: await freePort(), data: temporaryFolder(), history: 'level', retry: 100 }
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
    await until(async () => (await state()) === 1)
    // Before any value has come: the page already knows where it is.
    await server.end('SIGKILL')
    server = await spawnSse(args)
    await server.sse.put('1\r\n</script> 😀', 't')
    await until(async () => (await heard()).length === 1)
    await server.end('SIGTERM')
    server = await spawnSse(args)
    await server.sse.put('2', 't')
    await until(async () => (await heard()).length === 2)
    await server.sse.ask('GET', '/closeall')
    await until(async () => (await state()) === 2)
    expect(await heard()).toEqual(['message 1\n</script> 😀', 'message 2', 'closed closed'])
  })

  it("logs every value to its console from the comet page's frame", async () => {
    const sse = await startSse()
    const page = await openPage()
    const logged: string[] = []
    page.on('console', (message) => void (message.type() === 'log' && logged.push(message.text())))
    // The frame never ends, and so the page never ends loading.
    await page.goto(sse.url, { waitUntil: 'commit' })
    await until(async () => (await sse.ask('GET', '/connections')).body.streams === 1)
    const values = ['hello', '</script><script>alert(1)</script>', '"quoted" \u2028 <!-- \\n', 'é😀']
    for (const value of values) {
      await sse.put(value)
      await until(() => logged.includes(value))
    }
    await sse.ask('GET', '/closeall')
    await until(() => logged.length > values.length)
    expect(logged).toEqual([...values, 'closed'])
  })
})

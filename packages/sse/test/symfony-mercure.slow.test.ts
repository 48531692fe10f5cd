import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { chromium } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { ClientProgram, findSymfony } from './support/client-programs.ts'
import { HUB, createMercureClient } from './support/mercure-client.ts'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { startSse } from './support/test-sse.ts'

const SECRET = '!ChangeThisMercureHubJWTSecretKey!'
const TOPIC = 'https://x.example/books/1'

interface Cookie {
  readonly name: string
  readonly value: string
}

it('symfony/mercure publishes unchanged, and its readers, a page too, resume over a restart', async () => {
  const symfony = new ClientProgram(await findSymfony())
  const settings = {
    port: await findFreePort(),
    retry: 100,
    mercureCompatibility: '8',
    mercurePublisherJwtKey: SECRET,
    mercureSubscriberJwtKey: SECRET,
    mercureAnonymous: 'on',
    history: 'level',
    data: createTemporaryFolder(),
  }
  const env = { MERCURE_JWT_SECRET: SECRET }
  const publish = async (url: string, ...args: string[]) =>
    (await symfony.run<{ id: string }>(env, 'send', url + HUB, TOPIC, ...args)).id
  const query = '?topic=https%3A%2F%2Fx.example%2Fbooks%2F%7Bid%7D'

  const first = await startSse(settings)
  const { name, value } = await symfony.run<Cookie>(env, 'cookie', first.url + HUB, TOPIC)
  const cookie = { cookie: `${name}=${value}` }
  const [reader] = await createMercureClient(first).subscribe(query, cookie)
  const [stranger] = await createMercureClient(first).subscribe(query)
  const browser = await chromium.launch({ ...(await findChromium()), args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.context().addCookies([{ name, value, url: first.url }])
  await page.goto(`${first.url}/version`)
  await page.evaluate(`
    window.heard = []
    window.source = new EventSource('${HUB}${query}', { withCredentials: true })
    source.onmessage = ({ data }) => heard.push(data)
  `)
  await waitUntil(() => page.evaluate('source.readyState === 1'))
  const checkPage = async (...values: string[]) => {
    await waitUntil(() => page.evaluate(`heard.length >= ${values.length}`))
    expect(await page.evaluate('heard')).toEqual(values)
  }
  expect(await publish(first.url, 'one', 'private', 'urn:uuid:1')).toBe('urn:uuid:1')
  expect(await publish(first.url, 'two', 'public', 'urn:uuid:2')).toBe('urn:uuid:2')
  await reader!.until(2)
  await stranger!.until(1)
  expect([reader!.values, stranger!.values]).toEqual([['one', 'two'], ['two']])
  await checkPage('one', 'two')
  await first.stop()

  const second = await startSse(settings)
  await publish(second.url, 'three', 'private', 'urn:uuid:3')
  const resumed = await createMercureClient(second).subscribe(query, { ...cookie, 'last-event-id': 'urn:uuid:1' })
  for (const stream of resumed) {
    await stream.until(2)
    expect(stream.values).toEqual(['two', 'three'])
    expect(stream.headers['last-event-id']).toBe('urn:uuid:1')
  }
  await checkPage('one', 'two', 'three')
})

import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { sse } from '@influencer-stats/sse/service'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { failing, numbers, startFakeYoutube } from './support/fake-youtube.ts'
import { startStandIn, type TestStandIn } from './support/stand-in.ts'
import { startOnStandIn, startStats, type TestStats } from './support/stats.ts'

/** Opens a stream as `curl -N` would, and collects its text. */
async function openStream(url: string): Promise<{ readonly text: string }> {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const reply = await fetch(url, { signal: ending.signal, headers: { accept: 'text/event-stream' } })
  expect(reply.status).toBe(200)
  const stream = { text: '' }
  const read = async () => {
    for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) stream.text += chunk
  }
  read().catch(() => {})
  return stream
}

/** Returns the numbers in a stream. */
const numbersIn = ({ text }: { text: string }) =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json!))

describe('live numbers', () => {
  const VIDEO = '0000000000A'
  const HOUR_MS = 3_600_000
  const TIMESTAMP = Date.parse('2026-11-20T12:00:00Z')
  let standIn: TestStandIn
  let stats: TestStats
  beforeEach(async () => {
    standIn = await startStandIn()
    await standIn.control.freezeClock(TIMESTAMP)
  })
  afterEach(async () => {
    await stats.stop()
    await standIn.stop()
  })

  async function start(sseUri: string, more: { apiToken?: string } = {}) {
    const timing = { refreshInterval: 500, dailyBudget: 0 }
    stats = await startStats({ youtubeUri: standIn.url, sseUri, data: createTemporaryFolder(), ...timing, ...more })
    const headers = more.apiToken ? { authorization: `Bearer ${more.apiToken}` } : undefined
    expect((await stats.put('/collections/c', { videos: [VIDEO] }, headers)).status).toBe(201)
  }
  const readMetric = async (name: string) =>
    Number(new RegExp(`^${name} (.+)$`, 'm').exec(String((await stats.get('/metrics')).body))![1])
  const impressions = async () => (await stats.get('/collections/c/stats')).body.impressions

  it.each(['', 'secret'])('reach a stream, and again when they change; with the token "%s"', async (apiToken) => {
    const broadcaster = await embed(sse, { apiToken })
    onTestFinished(async () => void (await broadcaster.stop()))
    const stream = await openStream(`${broadcaster.url}/wait?cid=me&last=1&topic=collections/c`)
    await start(broadcaster.url, { apiToken })
    await waitUntil(() => numbersIn(stream).length > 0)
    const [first] = numbersIn(stream)
    const { body } = await stats.get('/collections/c/stats')
    const { created, version } = (await stats.get('/collections/c')).body
    expect(first).toEqual({ id: 'c', created, version, ...body, asOf: first.asOf, stale: expect.any(Boolean) })

    await standIn.control.freezeClock(TIMESTAMP + HOUR_MS)
    await waitUntil(() => numbersIn(stream).at(-1).impressions > first.impressions)
    // On a busy machine numbers may be stale for a moment, which is also published. Unchanged values are not published.
    await waitUntil(async () => (await readMetric('stats_publish_total')) === numbersIn(stream).length)
    const published = numbersIn(stream).map(({ impressions, stale }) => `${impressions} ${stale}`)
    expect(published.filter((one, i) => one === published[i - 1])).toEqual([])
  })

  it('distinguish a collection from a deleted one with the same id', async () => {
    const broadcaster = await embed(sse)
    onTestFinished(async () => void (await broadcaster.stop()))
    const stream = await openStream(`${broadcaster.url}/wait?cid=me&last=1&topic=collections/c`)
    await start(broadcaster.url)
    await waitUntil(() => numbersIn(stream).length > 0)
    await stats.delete('/collections/c')
    await stats.put('/collections/c', { videos: [VIDEO] })
    const { created } = (await stats.get('/collections/c')).body
    await waitUntil(() => numbersIn(stream).at(-1).created === created)
    expect(numbersIn(stream)[0].created < created).toBe(true)
  })

  it('state the version whose videos they sum', async () => {
    const broadcaster = await embed(sse)
    onTestFinished(async () => void (await broadcaster.stop()))
    const stream = await openStream(`${broadcaster.url}/wait?cid=me&last=1&topic=collections/c`)
    await start(broadcaster.url)
    await waitUntil(() => numbersIn(stream).length > 0)
    const versions = [numbersIn(stream)[0].version]
    for (const content of [{ videos: ['0000000000B'] }, { videos: ['0000000000B'], name: 'Spring' }]) {
      const { version } = (await stats.put('/collections/c', content)).body
      await waitUntil(() => numbersIn(stream).some((one) => one.version === version && one.impressions !== undefined))
      versions.push(version)
      expect(numbersIn(stream).at(-1)).toMatchObject({ version, impressions: await impressions() })
    }
    expect(versions).toEqual([...new Set(versions)].sort())
    // The change to the other video makes the numbers unknown at first.
    const { impressions: _impressions, ...unknown } = numbersIn(stream).find(({ stale, asOf }) => stale && !asOf)
    expect(unknown).toMatchObject({ id: 'c', version: versions[1], stale: true, source: standIn.url })
  })

  it('replace those of another source, which their topics retain, also while they are unknown', async () => {
    const broadcaster = await embed(sse)
    onTestFinished(async () => void (await broadcaster.stop()))
    const data = createTemporaryFolder()
    const settings = { data, sseUri: broadcaster.url, refreshInterval: 500, dailyBudget: 0 }
    stats = await startOnStandIn({ ...settings, youtubeUri: standIn.url })
    await stats.put('/collections/c', { videos: [VIDEO] })
    const stream = await openStream(`${broadcaster.url}/wait?cid=me&last=1&topic=collections/c`)
    // The first numbers of a busy machine may already be stale.
    await waitUntil(() => numbersIn(stream).at(-1)?.stale === false)
    expect(numbersIn(stream).at(-1)).toMatchObject({ source: 'stand-in' })
    await stats.stop()

    const other = await startFakeYoutube()
    other.handler = failing
    stats = await startStats({ ...settings, youtubeUri: other.url })
    await waitUntil(() => numbersIn(stream).at(-1).source === other.url)
    expect(numbersIn(stream).at(-1)).not.toHaveProperty('impressions')
    expect(numbersIn(stream).at(-1).stale).toBe(true)
    other.handler = numbers
    await waitUntil(() => numbersIn(stream).at(-1).impressions === 100 && numbersIn(stream).at(-1).stale === false)
    expect(numbersIn(stream).at(-1)).toMatchObject({ source: other.url })
  })

  it('survive an outage of the broadcaster without an effect on other requests', async () => {
    const port = await findFreePort()
    const first = await embed(sse, { port })
    await start(first.url)
    const before = await impressions()
    await waitUntil(async () => (await readMetric('stats_publish_total')) >= 1)
    await first.stop()

    await standIn.control.freezeClock(TIMESTAMP + HOUR_MS)
    await waitUntil(async () => (await impressions()) > before)
    await waitUntil(async () => (await readMetric('stats_publish_failed_total')) > 0)
    expect(await readMetric('stats_publish_waiting')).toBeLessThanOrEqual(1)

    const second = await embed(sse, { port })
    const stream = await openStream(`${second.url}/wait?topic=collections/c&last=1`)
    const now = await impressions()
    await waitUntil(() => numbersIn(stream).some((numbers) => numbers.impressions === now))
    await waitUntil(async () => (await readMetric('stats_publish_waiting')) === 0)
    await second.stop()
  })

  it('are published again within 2 s of a restart of the broadcaster, without a change', async () => {
    const port = await findFreePort()
    const first = await embed(sse, { port })
    await start(first.url)
    for (let i = 0; i < 30; i++) await stats.put(`/collections/c${i}`, { videos: [VIDEO] })
    await waitUntil(async () => (await readMetric('stats_publish_total')) >= 31)
    await first.stop()
    const second = await embed(sse, { port })
    onTestFinished(async () => void (await second.stop()))
    const time = startProcessClock()
    const isBack = async (id: string) => (await fetch(`${second.url}/value?topic=collections/${id}`)).status === 200
    for (let i = 0; i < 30; i++) await waitUntil(() => isBack(`c${i}`))
    expect(time()).toBeLessThan(2_000)
  })

  it('do not block reads or the shutdown if the broadcaster never responds', async () => {
    const silent = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await new Promise((resolve) => silent.once('listening', resolve))
    const connected = new Promise<void>((resolve) => silent.once('connection', () => resolve()))
    await start(`http://127.0.0.1:${(silent.address() as { port: number }).port}`)
    const before = await impressions()
    await connected
    await standIn.control.freezeClock(TIMESTAMP + HOUR_MS)
    await waitUntil(async () => (await impressions()) > before)
    const time = startProcessClock()
    expect(await stats.stop()).toBe(true)
    expect(time()).toBeLessThan(4_000)
  })
})

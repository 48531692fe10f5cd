import { embed } from '@influencer-stats/runtime/embed'
import type { PublisherClient } from '@influencer-stats/sse/publisher-client'
import { sse } from '@influencer-stats/sse/service'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SsePublisher } from '../src/publish/sse-publisher.ts'
import type { PreparedReply } from '../src/core/prepared-reply.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import type { ReplyUpdate } from '../src/messages.ts'
import { startStandIn, type TestStandIn } from './support/stand-in.ts'
import { failing, numbers, startFakeYoutube } from './support/fake-youtube.ts'
import { startOnStandIn, startStats, type TestStats } from './support/stats.ts'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

/** A collection's reply. With equal `impressions` only `asOf` differs. */
function createReply(impressions: number, asOf: number): PreparedReply {
  const body = JSON.stringify({ impressions, asOf: new Date(asOf).toISOString() })
  return { body, etag: '""', asOf, at: asOf }
}

/** Maximum body of a broadcaster. */
const MAX_BODY_BYTES = 1_048_576

/** A broadcaster that accepts values when the test resolves a put, or refuses them while it is down. */
function setUp() {
  const puts: string[] = []
  const current = new Map<string, PreparedReply | undefined>()
  const versions = new Map<string, number>()
  const lines: string[] = []
  const fake = {
    isUnavailable: false,
    epoch: 'a',
    hold: undefined as Promise<void> | undefined,
    onEpoch: (_epoch: string) => {},
  }
  const broadcaster: PublisherClient = {
    watch: (onEpoch) => void (fake.onEpoch = onEpoch),
    put: (topic, value) => broadcaster.putValues([{ topic, value }]),
    async putValues(values) {
      await fake.hold
      if (fake.isUnavailable) throw new Error('away')
      if (JSON.stringify(values).length > MAX_BODY_BYTES) throw new Error('too large')
      for (const { topic, value } of values) puts.push(`${topic} ${JSON.parse(value).impressions ?? value}`)
      return `${fake.epoch}-${puts.length}`
    },
    close() {},
  }
  const logger = {
    ...createSilentLogger(),
    info: () => void lines.push('info'),
    error: () => void lines.push('error'),
  }
  const publisher = new SsePublisher({
    broadcaster,
    logger,
    getReplies: () => [...current],
    getCollection: (id) => (current.has(id) ? { id, videos: [], revision: versions.get(id) ?? 1 } : undefined),
    getSource: () => 'https://api.example',
  })
  onTestFinished(() => publisher.close())

  function take(...updates: ReplyUpdate[]): void {
    for (const [id, reply] of updates) {
      if (reply) current.set(id, reply)
      else current.delete(id)
    }
    publisher.enqueue(updates)
  }

  /** A change of a collection that may make its numbers unknown. */
  function changeVersion(id: string, reply: PreparedReply | undefined): void {
    versions.set(id, (versions.get(id) ?? 1) + 1)
    current.set(id, reply)
    publisher.enqueue([[id, reply]])
  }
  return { publisher, puts, lines, fake, current, take, change: changeVersion }
}

describe('the publisher', () => {
  it('publishes numbers when they change, not when they are only fresher', async () => {
    const { publisher, puts, take } = setUp()
    take(['c', createReply(1, 1)], ['d', createReply(5, 1)])
    await waitUntil(() => publisher.pending === 0 && puts.length === 2)
    take(['c', createReply(1, 2)], ['d', createReply(6, 2)])
    await waitUntil(() => puts.length === 3)
    take(['c', createReply(2, 3)])
    await waitUntil(() => puts.length === 4)
    expect(puts).toEqual(['collections/c 1', 'collections/d 5', 'collections/d 6', 'collections/c 2'])
  })

  it('queues only the newest numbers while the broadcaster is unavailable, and reports it once', async () => {
    const { publisher, puts, lines, fake, take } = setUp()
    fake.isUnavailable = true
    for (let i = 1; i <= 100; i++) take(['c', createReply(i, i)], ['d', createReply(-i, i)])
    await waitUntil(() => publisher.counters.failed >= 3)
    expect(publisher.pending).toBe(2)
    fake.isUnavailable = false
    await waitUntil(() => puts.length === 2)
    expect(puts.toSorted()).toEqual(['collections/c 100', 'collections/d -100'])
    await waitUntil(() => lines.length === 2)
    expect(lines).toEqual(['error', 'info'])
  })

  it('publishes the same numbers of another version, and reports unknown ones', async () => {
    const { publisher, puts, take, change: changeVersion } = setUp()
    take(['c', createReply(1, 1)])
    await waitUntil(() => puts.length === 1)
    changeVersion('c', createReply(1, 1))
    await waitUntil(() => puts.length === 2)
    changeVersion('c', undefined)
    await waitUntil(() => puts.length === 3)
    // The publisher has put no value of it before.
    changeVersion('d', undefined)
    expect(publisher.pending).toBe(0)
    changeVersion('c', createReply(4, 4))
    await waitUntil(() => puts.length === 4)
    expect(puts).toEqual([
      'collections/c 1',
      'collections/c 1',
      'collections/c {"id":"c","version":"3","stale":true,"source":"https://api.example"}',
      'collections/c 4',
    ])
  })

  it('reports at its start which collections have no numbers: a topic may retain those of another source', async () => {
    const { publisher, puts, current } = setUp()
    current.set('c', createReply(1, 1)).set('d', undefined)
    publisher.enqueueAll()
    await waitUntil(() => puts.length === 2)
    expect(puts).toEqual([
      'collections/c 1',
      'collections/d {"id":"d","version":"1","stale":true,"source":"https://api.example"}',
    ])
  })

  it('publishes numbers again that returned to the published ones during a put', async () => {
    const { puts, fake, take } = setUp()
    take(['c', createReply(1, 1)])
    await waitUntil(() => puts.length === 1)
    const { promise, resolve } = Promise.withResolvers<void>()
    fake.hold = promise
    take(['c', createReply(2, 2)])
    take(['c', createReply(1, 3)])
    resolve()
    await waitUntil(() => puts.length === 3)
    expect(puts).toEqual(['collections/c 1', 'collections/c 2', 'collections/c 1'])
  })

  it('drops a deleted collection, also during its put', async () => {
    const { publisher, puts, fake, take } = setUp()
    fake.isUnavailable = true
    take(['c', createReply(1, 1)], ['d', createReply(1, 1)])
    take(['c', undefined])
    await waitUntil(() => publisher.counters.failed > 0)
    fake.isUnavailable = false
    await waitUntil(() => puts.length > 0 && publisher.pending === 0)
    expect(puts).toEqual(['collections/d 1'])
  })

  it('publishes everything to a broadcaster that has lost its values', async () => {
    const { puts, fake, take } = setUp()
    take(['c', createReply(1, 1)], ['d', createReply(1, 1)])
    await waitUntil(() => puts.length === 2)
    fake.epoch = 'b'
    take(['c', createReply(2, 2)])
    await waitUntil(() => puts.length >= 4)
    expect(puts.slice(2)).toEqual(['collections/c 2', 'collections/d 1'])
  })

  it('does so at once after a restart, without a change, and publishes nothing to one that lost no value', async () => {
    const { publisher, puts, fake, take } = setUp()
    fake.onEpoch('a')
    take(['c', createReply(1, 1)], ['d', createReply(1, 1)])
    await waitUntil(() => puts.length === 2)
    fake.onEpoch('a')
    expect(publisher.pending).toBe(0)
    fake.epoch = 'b'
    fake.onEpoch('b')
    await waitUntil(() => puts.length === 4)
    expect(puts.slice(2)).toEqual(['collections/c 1', 'collections/d 1'])
  })

  it('limits the size of a put, regardless of the size of each value', async () => {
    const { publisher, puts, lines, take } = setUp()
    const missing = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(11, 'm'))
    const body = JSON.stringify({ impressions: 1, missing })
    take(...Array.from({ length: 200 }, (_, i): ReplyUpdate => [`c${i}`, { body, etag: '""', asOf: 1, at: 1 }]))
    await waitUntil(() => publisher.pending === 0 && puts.length === 200)
    expect(lines).toEqual([])
  })

  it('puts several batches concurrently, and the newest value of a collection last', async () => {
    const { publisher, puts, fake, take } = setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    fake.hold = promise
    take(...Array.from({ length: 804 }, (_, i): ReplyUpdate => [`c${i}`, createReply(1, 1)]))
    await waitUntil(() => publisher.pending === 4)
    take(['c0', createReply(2, 2)])
    resolve()
    await waitUntil(() => puts.length === 805)
    expect(puts.indexOf('collections/c0 2')).toBeGreaterThan(puts.indexOf('collections/c0 1'))
  })
})

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
    await waitUntil(() => numbersIn(stream).length > 0)
    expect(numbersIn(stream).at(-1)).toMatchObject({ source: 'stand-in', stale: false })
    await stats.stop()

    const other = await startFakeYoutube()
    other.handler = failing
    stats = await startStats({ ...settings, youtubeUri: other.url })
    await waitUntil(() => numbersIn(stream).at(-1).source === other.url)
    expect(numbersIn(stream).at(-1)).not.toHaveProperty('impressions')
    expect(numbersIn(stream).at(-1).stale).toBe(true)
    other.handler = numbers
    await waitUntil(() => numbersIn(stream).at(-1).impressions === 100)
    expect(numbersIn(stream).at(-1)).toMatchObject({ source: other.url, stale: false })
  })

  it('survive an outage of the broadcaster without an effect on other requests', async () => {
    const first = await embed(sse)
    await start(first.url)
    const before = await impressions()
    await waitUntil(async () => (await readMetric('stats_publish_total')) === 1)
    await first.stop()

    await standIn.control.freezeClock(TIMESTAMP + HOUR_MS)
    await waitUntil(async () => (await impressions()) > before)
    await waitUntil(async () => (await readMetric('stats_publish_failed_total')) > 0)
    expect(await readMetric('stats_publish_waiting')).toBeLessThanOrEqual(1)

    const second = await embed(sse, { port: new URL(first.url).port })
    const stream = await openStream(`${second.url}/wait?topic=collections/c&last=1`)
    const now = await impressions()
    await waitUntil(() => numbersIn(stream).some((numbers) => numbers.impressions === now))
    await waitUntil(async () => (await readMetric('stats_publish_waiting')) === 0)
    await second.stop()
  })

  it('are published again within 2 s of a restart of the broadcaster, without a change', async () => {
    const first = await embed(sse)
    await start(first.url)
    for (let i = 0; i < 30; i++) await stats.put(`/collections/c${i}`, { videos: [VIDEO] })
    await waitUntil(async () => (await readMetric('stats_publish_total')) >= 31)
    await first.stop()
    const second = await embed(sse, { port: new URL(first.url).port })
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

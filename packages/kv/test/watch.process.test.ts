import type { Overrides } from '@influencer-stats/runtime/embed'
import { SERVERS } from '@influencer-stats/runtime/settings'
import { formatRequest, openUnreadClient } from '@influencer-stats/runtime/testing/raw-client'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createKvClient, type KvClient, type KvChangeSet, type WatchOptions } from '../src/client.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { type TestKv } from './support/kv.ts'
import { start, useNats } from './support/cluster-nodes.ts'

const startNode = useNats()

type TestChange = KvChangeSet['changes'][number]

const END_KEY = 'end=1'
const flatten = (steps: readonly KvChangeSet[]) => steps.flatMap(({ changes }) => changes)
const toText = (change: TestChange) =>
  change.op === 'put' ? `${change.id}=${change.value.toString('latin1')}` : `-${change.id}`

/** Resolves once a stream is open. `steps` resolves with its changes up to `last`. */
async function follow(
  client: KvClient,
  options: WatchOptions = {},
  last = END_KEY,
): Promise<{ steps: Promise<KvChangeSet[]> }> {
  const stream = client.watch(options)[Symbol.asyncIterator]()
  const opened = await stream.next()
  expect(opened.value.changes).toEqual([])
  async function readRest(): Promise<KvChangeSet[]> {
    const steps: KvChangeSet[] = []
    while (!steps.at(-1)?.changes.some((change) => toText(change) === last)) {
      const { value, done } = await stream.next()
      if (done) throw new Error('it ended')
      steps.push(value)
    }
    await stream.return!()
    return steps
  }
  const steps = readRest()
  // The test awaits it later. Until then a failure must not count as unhandled.
  steps.catch(() => {})
  return { steps }
}

const CLIENT_COUNT = 8
const ROUND_COUNT = 15

/** Concurrent writes of distinct values to few keys. @returns the writes of each client, in order */
async function writeAll(urls: readonly string[]): Promise<string[][]> {
  return Promise.all(
    Array.from({ length: CLIENT_COUNT }, async (_, i) => {
      const client = createKvClient(urls[i % urls.length]!, { connections: 1 })
      const done: string[] = []
      for (let round = 0; round < ROUND_COUNT; round++) {
        const value = `${i}.${round}`
        const key = `${'abc'[(i + round) % 3]!}/${round % 4}`
        if (round % 5 === 4) {
          const changes = [
            { op: 'put', id: key, value },
            { op: 'delete', id: `${key}'` },
            { op: 'put', id: `${key}'`, value },
          ] as const
          await client.batch(changes)
          done.push(`${key}=${value}`, `${key}'=${value}`)
        } else if (round % 5 === 3) {
          const refused = client.put(key, value, { ifMatch: '"none"' })
          await expect(refused).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
        } else {
          await client.put(key, value)
          done.push(`${key}=${value}`)
        }
      }
      await client.close()
      return done
    }),
  )
}

describe.each<[string, (() => Overrides)[]]>([
  ['one thread', [() => ({})]],
  ['three threads', [() => ({ threads: 3 })]],
  ['main itself', [() => ({ threads: 0, server: 'fastify' })]],
  ['three threads, each write by itself', [() => ({ threads: 3, commit: 'single' })]],
  ['memory', [() => ({ store: 'memory' })]],
  ['two nodes', Array.from({ length: 2 }, (_, i) => () => ({ threads: i + 1, ...startNode(`watch-${process.pid}`) }))],
])('a stream of changes, %s', (_, all) => {
  it('shows every change once, in one order for all, and grouped by write, even after disconnects', async () => {
    const nodes: TestKv[] = []
    for (const settings of all) nodes.push(await start(settings()))
    const [first] = nodes as [TestKv]
    const last = nodes.at(-1)!
    await first.client.put('before', '1')
    const proxy = await startCuttingProxy(last.url, () => 400 + Math.floor(Math.random() * 1_400))
    onTestFinished(() => proxy.close())
    const losing = createKvClient(proxy.url)
    onTestFinished(() => losing.close())
    const whole = await follow(first.client)
    const part = await follow(last.client, { start: 'b', end: 'c' }, 'b/end=1')
    const key = await follow(last.client, { start: "a/1'", end: "a/1'\0" }, "a/1'=1")
    const lost = await follow(losing)

    const done = await writeAll(nodes.map(({ url }) => url))
    for (const id of ['b/end', "a/1'", 'end']) await first.client.put(id, '1')

    const steps = await whole.steps
    const sequences = steps.map(({ sequence }) => sequence)
    expect(sequences).toEqual([...new Set(sequences)].toSorted((a, b) => a - b))
    const seen = flatten(steps).map(toText)
    const puts = seen.filter((text) => !text.startsWith('-'))
    expect(puts.slice(0, -3).toSorted()).toEqual(done.flat().toSorted())
    // The writes of one client appear in order.
    for (const own of done) {
      const ownSequences = new Set(own)
      expect(puts.filter((text) => ownSequences.has(text))).toEqual(own)
    }
    // The changes of one write appear together.
    let deleted = 0
    for (const { changes } of steps) {
      for (const [i, change] of changes.entries()) {
        if (change.op !== 'delete') continue
        deleted++
        const value = toText(changes[i - 1]!).split('=')[1]
        expect(toText(changes[i + 1]!)).toBe(`${change.id}=${value}`)
      }
    }
    expect(deleted).toBe(CLIENT_COUNT * (ROUND_COUNT / 5))
    // The changes reproduce the content of the database.
    const base = new Map([['before', '1']])
    for (const change of flatten(steps)) {
      if (change.op === 'put') base.set(change.id, change.value.toString())
      else base.delete(change.id)
    }
    const entries = new Map<string, string>()
    for await (const { id, value } of first.client.entries({ linearizable: true })) entries.set(id, value.toString())
    expect(entries).toEqual(base)

    // Other streams show the same, each its part. A stream that is disconnected again and again gets every change
    // exactly once.
    expect(flatten(await part.steps).map(toText)).toEqual(seen.filter((text) => /^-?b/.test(text)))
    expect(flatten(await key.steps).map(toText)).toEqual(seen.filter((text) => /^-?a\/1'/.test(text)))
    expect(flatten(await lost.steps).map(toText)).toEqual(seen)
    expect(proxy.cuts).toBeGreaterThan(3)
  })
})

/** Reads a stream as a plain client of server-sent events. */
async function open(url: string, headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const reply = await fetch(url, { headers, signal: leaving.signal })
  let text = ''
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const piece of reply.body as unknown as AsyncIterable<Uint8Array>)
      text += decoder.decode(piece, { stream: true })
  })().catch(() => {})
  return {
    reply,
    ended,
    text: () => text,
    /** Last received id. */
    sequence: () =>
      Number(
        text
          .match(/^id: (\d+)$/gm)
          ?.at(-1)
          ?.slice(4),
      ),
    leave: () => leaving.abort(),
  }
}

describe.each(SERVERS)('a stream of changes as plain server-sent events, server %s', (server) => {
  it('has events as lines of a batch, ids to resume, and heartbeats with its progress', async () => {
    const kv = await start({ server, watchHeartbeat: 20 })
    const stream = await open(`${kv.url}/v0/watch?start=k&end=l`)
    expect(stream.reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    await waitUntil(() => stream.sequence())
    const begun = stream.sequence()
    expect(stream.text()).toMatch(/^retry: \d+\n\n(id: \d+\n\n)+$/)
    await kv.client.put('k', Buffer.from([0xff, 0]))
    await kv.client.batch([
      { op: 'put', id: 'k\n', value: 'text\n' },
      { op: 'delete', id: 'k' },
      { op: 'put', id: 'other', value: '1' },
    ])
    await waitUntil(() => stream.text().includes('delete'))
    const events = stream
      .text()
      .replace(/^retry: .*\n\n/, '')
      .replaceAll(/(^|\n\n)(id: \d+\n\n)+/g, '$1')
    expect(events.replaceAll(/\d+\n/g, 'N\n')).toBe(
      'event: put\ndata: {"op":"put","id":"k","valueBase64":"/wA="}\nid: N\n\n' +
        'event: put\ndata: {"op":"put","id":"k\\n","value":"text\\n"}\n\n' +
        'event: delete\ndata: {"op":"delete","id":"k"}\nid: N\n\n',
    )
    // A change outside of the range advances the sequence, too.
    const sent = stream.sequence()
    await kv.client.put('other', '2')
    await waitUntil(() => stream.sequence() > sent)
    const sequence = stream.sequence()
    stream.leave()
    await kv.client.put('k', '3')
    // The stream continues after its last id: the header takes precedence over the query.
    const again = await open(`${kv.url}/v0/watch?start=k&end=l&after=${begun}`, { 'last-event-id': String(sequence) })
    await waitUntil(() => again.text().includes('"3"'))
    expect(again.text().match(/^event/gm)).toHaveLength(1)
    const all = await open(`${kv.url}/v0/watch?start=k&end=l&after=${begun}`)
    await waitUntil(() => all.text().includes('"3"'))
    expect(all.text().match(/^event/gm)).toHaveLength(4)
  })

  it('refuses invalid queries, too many streams, and expired sequences', async () => {
    const kv = await start({ server, maxWatchers: 1 })
    const openWatch = (query: string, headers = {}) => kv.request('GET', `/v0/watch${query}`, undefined, headers)
    for (const query of ['?start=', '?start=a&limit=1', '?start=a&after=x', '?start=a&after=-1', '?prefix=a&end=b'])
      expect((await openWatch(query)).code).toBe('QUERY_INVALID')
    expect((await openWatch('?start=a', { 'last-event-id': 'x' })).code).toBe('QUERY_INVALID')
    expect((await openWatch(`?start=${'x'.repeat(1_025)}`)).code).toBe('KEY_TOO_LARGE')
    expect(await openWatch('?start=a&after=5')).toMatchObject({ status: 410, code: 'SEQUENCE_EXPIRED' })
    const one = await open(`${kv.url}/v0/watch`)
    await waitUntil(() => one.sequence())
    const refused = await openWatch('?start=a')
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([503, 'TOO_MANY_WATCHERS', '5'])
    // A sequence in the future.
    one.leave()
    const sequence = one.sequence()
    await waitUntil(async () => {
      const other = await openWatch(`?start=a&after=${sequence + 1_000}`)
      return other.code === 'SEQUENCE_EXPIRED'
    })
  })

  it('ends with the service and does not delay its stop', async () => {
    const kv = await start({ server, shutdownTimeout: 3_600_000 })
    const streams = await Promise.all(['a', 'b'].map((key) => open(`${kv.url}/v0/watch?start=${key}`)))
    await waitUntil(() => streams.every((one) => one.sequence()))
    expect(await kv.stop()).toBe(true)
    await Promise.all(streams.map(({ ended }) => ended))
  })
})

it('cuts a client that does not read, bounds its memory, and serves others completely', async () => {
  const kv = await start({ watchBuffer: 1_048_576, watchHistory: 4_194_304 })
  const { cut } = await openUnreadClient(kv.url, formatRequest('GET', '/v0/watch?start=k'))
  const readMetric = async (name: string) =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await kv.request('GET', '/metrics')).text)?.[1])
  await waitUntil(async () => (await readMetric('kv_watchers')) === 1)
  const reader = await follow(kv.client, { start: 'k' }, 'k=end')
  const value = Buffer.alloc(1_048_576, 'x')
  const count = 24
  for (let i = 0; i < count; i++) await kv.client.put('k', value)
  await waitUntil(async () => (await readMetric('kv_watchers_cut_total')) === 1)
  expect(await readMetric('kv_watchers')).toBe(1)
  await kv.client.put('k', 'end')
  const changes = flatten(await reader.steps)
  expect(changes).toHaveLength(count + 1)
  expect(changes.every((change, i) => i === count || (change.op === 'put' && change.value.equals(value)))).toBe(true)
  await cut()
})

it('ends when its client is closed or aborts it', async () => {
  const kv = await start()
  const client = createKvClient(kv.url)
  const ending = new AbortController()
  const sequences: number[] = []
  const watching = [{ signal: ending.signal }, {}].map(async (options) => {
    for await (const { sequence } of client.watch(options)) sequences.push(sequence)
  })
  await waitUntil(() => sequences.length === 2)
  ending.abort()
  await watching[0]
  await client.close()
  await watching[1]
})

it('reports an expired sequence after too many changes, also through the client', async () => {
  const kv = await start({ watchHistory: 10_000 })
  const stream = await open(`${kv.url}/v0/watch?start=k`)
  await waitUntil(() => stream.sequence())
  const sequence = stream.sequence()
  for (let i = 0; i < 20; i++) await kv.client.put('k', 'x'.repeat(1_000))
  await waitUntil(() => stream.sequence() > sequence)
  expect(await kv.request('GET', `/v0/watch?start=k&after=${sequence}`)).toMatchObject({
    status: 410,
    code: 'SEQUENCE_EXPIRED',
  })
  const watching = kv.client.watch({ start: 'k', after: sequence })[Symbol.asyncIterator]()
  await expect(watching.next()).rejects.toMatchObject({ status: 410, code: 'SEQUENCE_EXPIRED' })
})

it('a stream on a node waits for a later sequence, and reports a timeout', async () => {
  const settings = startNode(`watch-behind-${process.pid}`)
  const [one, other] = [await start({ ...settings, sequenceWaitTimeout: 500 }), await start(settings)]
  await one.client.put('k', '1')
  const stream = await open(`${other.url}/v0/watch?start=k&after=0`)
  await waitUntil(() => stream.text().includes('"value":"1"\n') || stream.text().includes('"value":"1"}'))
  // A new node knows the sequence up to which it has read.
  const sequence = one.client.sequence!
  const lagging = await one.request('GET', `/v0/watch?start=k&after=${sequence + 50}`)
  expect([lagging.status, lagging.code]).toEqual([503, 'SEQUENCE_WAIT_TIMEOUT'])
  const waiting = open(`${other.url}/v0/watch?start=k&after=${sequence + 1}`)
  await one.client.put('k', '2')
  await one.client.put('k', '3')
  const late = await waiting
  await waitUntil(() => late.text().includes('"3"'))
  expect(late.text()).not.toContain('"2"')
})

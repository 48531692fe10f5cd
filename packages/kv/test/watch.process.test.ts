import type { Overrides } from '@influencer-stats/runtime/embed'
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
    // A heartbeat repeats the last sequence, without changes.
    const sequences = steps.filter(({ changes }) => changes.length > 0).map(({ sequence }) => sequence)
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

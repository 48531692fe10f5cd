import { createBudgetMemory, sumHeldBytes } from '@influencer-stats/runtime/budget'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import { sharedBytes, type SlowConnection } from '@influencer-stats/runtime/testing/slow-connection'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEachFanout } from '../src/fanout/each-fanout.ts'
import { createJoinedFanout } from '../src/fanout/joined-fanout.ts'
import { openStreams, readSequences } from './support/slow-streams.ts'

const MIB = 1_048_576
const COUNT = 200
/** Each topic begins with all shorter ones: the prefixes of many streams then match a topic. */
const NESTED = Array.from({ length: COUNT }, (_, i) => 'a'.repeat(i + 1))
const topicOf = (i: number) => `t${i}`
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Resolves once values are written and cut connections have emitted `close`. */
async function waitUntilReleased(): Promise<void> {
  for (let i = 0; i < 3; i++) await turn()
}

/** True if the client of a stream has received everything up to this sequence. */
const hasReached = ({ received }: SlowConnection, seq: number) =>
  String(received.at(-1)?.subarray(-20)).trimEnd().endsWith(`-${seq}`)

const numbersUpTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

const CLASSES = [
  ['different topics', (i: number) => ({ topics: [topicOf(i)] }), (seq: number) => topicOf(seq % COUNT)],
  ['the same topic', () => ({ topics: ['t'] }), () => 't'],
  ['nested prefixes', (i: number) => ({ prefixes: [NESTED[i]!] }), (seq: number) => NESTED[(37 * seq) % COUNT]!],
  [
    'a topic of their own and a common prefix',
    (i: number) => ({ topics: [topicOf(i)], prefixes: ['a'] }),
    (seq: number) => (seq % 2 === 0 ? topicOf(seq % COUNT) : 'a'),
  ],
] as const

describe.each([
  ['joined', createJoinedFanout],
  ['each', createEachFanout],
])('unread streams, fan-out %s', (_name, createFanout) => {
  it.each(CLASSES)(
    'stay within the budget, and a client that reads gets everything: %s',
    async (_what, of, topicAt) => {
      const clientMemoryLimit = 2 * MIB
      const { memory, budget, hub, put, open } = openStreams({ clientMemoryLimit, createFanout })
      const stalled = Array.from({ length: COUNT }, (_, i) => open(of(i)))
      const reader = open({ prefixes: [''], isReading: true })
      let seq = 0
      while (seq < 1_200) {
        seq = put(
          Array.from({ length: 6 }, (_, i) => topicAt(seq + 1 + i)),
          10_000,
        )
        await waitUntilReleased()
        expect(sumHeldBytes(memory)).toBeLessThanOrEqual(clientMemoryLimit)
        expect(sharedBytes(stalled)).toBeLessThanOrEqual(clientMemoryLimit)
        // Other requests still get memory.
        expect(budget.take(clientMemoryLimit / 4)).toBe(true)
        budget.release(clientMemoryLimit / 4)
      }
      expect(hub.metrics.cut).toBeGreaterThan(0)
      expect(readSequences(reader)).toEqual(numbersUpTo(seq))
      for (const connection of stalled) connection.destroy()
      await waitUntilReleased()
      expect([hub.size, hub.unreadBytes, sumHeldBytes(memory)]).toEqual([1, 0, 0])
    },
  )
})

it('streams share the text of an event, however their topics differ', async () => {
  const { hub, put, open } = openStreams({ clientMemoryLimit: 64 * MIB })
  const stalled = NESTED.map((prefix) => open({ prefixes: [prefix] }))
  const opened = stalled.reduce((sum, { unread }) => sum + unread.length, 0)
  // Streams get one chunk per event only while a client has unread bytes.
  put(['a'.repeat(COUNT)], 1)
  await waitUntilReleased()
  const [count, bytes] = [100, 50_000]
  for (let seq = 0; seq < count; seq += 10) {
    put(
      Array.from({ length: 10 }, (_, i) => NESTED[(37 * (seq + i)) % COUNT]!),
      bytes,
    )
    await waitUntilReleased()
  }
  expect(hub.metrics.cut).toBe(0)
  expect(sharedBytes(stalled)).toBeGreaterThan(count * bytes)
  expect(sharedBytes(stalled)).toBeLessThan(1.2 * count * bytes)
  // The count includes all of these bytes and those of the pending writes.
  const writes = stalled.reduce((sum, { unread }) => sum + unread.length, 0) - opened
  expect(hub.unreadBytes).toBeGreaterThan(count * bytes + 60 * writes)
  expect(hub.unreadBytes).toBeLessThan(1.2 * count * bytes + 200 * writes)
})

it('streams of one topic hold one chunk and one write for all values of a turn', async () => {
  const { put, open } = openStreams({ clientMemoryLimit: 64 * MIB })
  const stalled = Array.from({ length: 1_000 }, () => open({ topics: ['t'] }))
  const written = stalled[0]!.unread.length
  for (let i = 0; i < 10; i++) put(['t', 't'], 100)
  await waitUntilReleased()
  const [chunk, ...others] = stalled[0]!.unread.slice(written)
  expect(others).toEqual([])
  for (const { unread } of stalled) expect(unread.slice(written)).toEqual([chunk])
  expect(new Set(stalled.map(({ unread }) => unread.at(-1))).size).toBe(1)
})

describe('300 clients that resume at once and read nothing', () => {
  const resume = (bytes: number, count: number, clientMemoryLimit: number, topics = 10) => {
    const streams = openStreams({ clientMemoryLimit })
    for (let i = 0; i < count; i++) streams.put([topicOf(i % topics)], bytes)
    const stalled = Array.from({ length: 300 }, (_, i) => streams.open({ prefixes: ['t'], resumeAfter: i % 50 }))
    return { ...streams, stalled }
  }

  it.each([
    ['small values', 500, 4_000],
    ['values of 10 KB', 10_000, 200],
    ['values of 100 KB', 100_000, 100],
    ['values of 1 MB', 1_000_000, 60],
  ])('stay within the budget: %s', async (_what, bytes, count) => {
    const clientMemoryLimit = 8 * MIB
    const { memory, hub, stalled } = resume(bytes, count, clientMemoryLimit)
    await waitUntilReleased()
    expect(sumHeldBytes(memory)).toBeLessThanOrEqual(clientMemoryLimit)
    expect(sharedBytes(stalled)).toBeLessThanOrEqual(sumHeldBytes(memory) + 300 * 100)
    expect(hub.size).toBeGreaterThan(0)
    // The clients that remain get everything once they read.
    const left = stalled.filter(({ isCut }) => !isCut)
    for (const connection of left) connection.isReading = true
    for (const connection of left) connection.read()
    await waitUntil(() => left.every((one) => hasReached(one, count)))
    for (const connection of left.slice(0, 5)) {
      const read = readSequences(connection)
      expect(read).toEqual(numbersUpTo(count).slice(-read.length))
    }
    for (const connection of left) connection.destroy()
    await waitUntilReleased()
    expect([hub.size, hub.unreadBytes, sumHeldBytes(memory)]).toEqual([0, 0, 0])
  })

  it('share the text of large values', async () => {
    const { memory, hub } = resume(100_000, 100, 256 * MIB)
    await waitUntilReleased()
    expect(hub.metrics.cut).toBe(0)
    // 50 sequences to resume from, a value each.
    expect(sumHeldBytes(memory)).toBeGreaterThan(50 * 100_000)
    expect(sumHeldBytes(memory)).toBeLessThan(60 * 100_000)
  })
})

it('threads share one budget, and streams of one thread do not have streams of the others cut', async () => {
  const clientMemoryLimit = 2 * MIB
  const memory = createBudgetMemory(2)
  const one = openStreams({ clientMemoryLimit, memory, thread: 0 })
  const other = openStreams({ clientMemoryLimit, memory, thread: 1 })
  const stalled = Array.from({ length: 20 }, (_, i) => one.open({ topics: ['a', topicOf(i)] }))
  const slow = other.open({ topics: ['a'] })
  for (let seq = 1; seq <= 200; seq++) {
    for (const { put } of [one, other]) put(['a'], 20_000)
    await waitUntilReleased()
    // This client reads slowly, but it reads.
    slow.read(slow.unread.length - 1)
    expect(sumHeldBytes(memory)).toBeLessThanOrEqual(clientMemoryLimit)
  }
  expect([one.hub.metrics.cut > 0, other.hub.metrics.cut]).toEqual([true, 0])
  for (const connection of [...stalled, slow]) connection.destroy()
  await waitUntilReleased()
  expect(sumHeldBytes(memory)).toBe(0)
})

it('a value that is larger than the budget reaches a stream that has nothing else unread', async () => {
  const { memory, hub, put, open } = openStreams({ clientMemoryLimit: 2 * MIB })
  const slow = open({ topics: ['a'] })
  for (let seq = 1; seq <= 3; seq++) {
    put(['a'], 3 * MIB)
    await waitUntilReleased()
    slow.read()
    expect([hub.metrics.cut, hub.unreadBytes, sumHeldBytes(memory)]).toEqual([0, 0, 0])
  }
  expect(readSequences(slow)).toEqual([1, 2, 3])
})

it('a connection that copies what it sends counts all of it', async () => {
  const { hub, put, open } = openStreams({ clientMemoryLimit: 64 * MIB, isCopied: true })
  for (let i = 0; i < 10; i++) open({ topics: ['a'] })
  put(['a'], 100_000)
  await waitUntilReleased()
  expect(hub.unreadBytes).toBeGreaterThan(11 * 100_000)
  expect(hub.unreadBytes).toBeLessThan(11.2 * 100_000)
})

it('a client that reads nothing holds no more for every heartbeat', async () => {
  const { hub, put, open } = openStreams({ clientMemoryLimit: MIB })
  const slow = open({ topics: ['a'] })
  put(['a'], 100)
  await waitUntilReleased()
  const written = slow.unread.length
  for (let i = 0; i < 3; i++) {
    hub.sendHeartbeats()
    await waitUntilReleased()
  }
  expect(slow.unread).toHaveLength(written)
  slow.read()
  hub.sendHeartbeats()
  await waitUntilReleased()
  expect(slow.unread.map(String)).toEqual(['2\r\n:\n\r\n'])
})

it('streams miss nothing and get nothing twice, however they read, are cut and resume', async () => {
  const topic = fc.integer({ min: 0, max: 9 })
  const step = fc.oneof(
    fc.record({
      isApart: fc.boolean(),
      puts: fc.array(topic, { minLength: 1, maxLength: 4 }),
      bytes: fc.constantFrom(1, 500, 20_000, 90_000),
    }),
    fc.record({ stream: fc.nat(), reads: fc.integer({ min: 1, max: 20 }) }),
    fc.constant('turn' as const),
  )
  let cut = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.uniqueArray(topic, { minLength: 1, maxLength: 4 }), fc.boolean()), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom(100_000, 1_000_000, 8_000_000),
      async (expected, steps, clientMemoryLimit) => {
        const { memory, hub, put, open } = openStreams({ clientMemoryLimit })
        const streams = expected.map(([topics, isPrefix]) => {
          const names = topics.map(topicOf)
          const selectors = isPrefix ? { prefixes: names } : { topics: names }
          return { names, selectors, connection: open(selectors), read: [] as number[] }
        })
        const written: { seq: number; name: string }[] = []
        async function resume(stream: (typeof streams)[0], isReading = false): Promise<void> {
          stream.read.push(...readSequences(stream.connection))
          stream.connection.destroy()
          await waitUntilReleased()
          stream.connection = open({ ...stream.selectors, resumeAfter: stream.read.at(-1) ?? 0, isReading })
        }
        for (const one of steps) {
          if (one === 'turn') await waitUntilReleased()
          else if ('puts' in one) {
            const names = one.puts.map(topicOf)
            const last = put(names, one.bytes)
            if (one.isApart) await waitUntilReleased()
            written.push(...names.map((name, i) => ({ seq: last - names.length + 1 + i, name })))
          } else {
            const stream = streams[one.stream % streams.length]!
            stream.connection.read(one.reads)
            if (stream.connection.isCut) await resume(stream)
          }
          expect(sumHeldBytes(memory)).toBeLessThanOrEqual(Math.max(clientMemoryLimit, 500_000))
        }
        for (const stream of streams) {
          await resume(stream, true)
          const expected = written.filter(({ name }) => stream.names.includes(name)).map(({ seq }) => seq)
          const last = expected.at(-1) ?? 0
          if (last > (stream.read.at(-1) ?? 0)) await waitUntil(() => readSequences(stream.connection).at(-1) === last)
          expect([...stream.read, ...readSequences(stream.connection)]).toEqual(expected)
        }
        cut += hub.metrics.cut
        for (const { connection } of streams) connection.destroy()
        await waitUntilReleased()
        expect([hub.size, hub.unreadBytes, sumHeldBytes(memory)]).toEqual([0, 0, 0])
      },
    ),
    { numRuns: scaleRuns(100) },
  )
  expect(cut).toBeGreaterThan(0)
}, 120_000)

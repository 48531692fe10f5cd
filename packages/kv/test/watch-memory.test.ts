import { createBudgetMemory, sumHeldBytes } from '@influencer-stats/runtime/budget'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sharedBytes } from '@influencer-stats/runtime/testing/slow-connection'
import {
  createFeed,
  openWatchers,
  put,
  readSequences,
  toName,
  toStart,
  waitForClose,
  waitForSequence,
} from './support/watchers.ts'

const MIB = 1_048_576
it('200 unread streams of different ranges stay within the budget, and a reader gets everything', async () => {
  const clientMemoryLimit = MIB
  const { feed, memory, budget, watchers, open } = openWatchers({ clientMemoryLimit })
  const stalled = Array.from({ length: 200 }, (_, i) => open(toStart(i)))
  const reader = open(toStart(0), { isReading: true })
  await waitForSequence(reader, 0)
  const keys = Array.from({ length: 20 }, (_, i) => toName(10 * i + 5))
  for (let seq = 1; seq <= 400; seq++) {
    put(feed, seq, [keys[seq % 20]!, keys[(7 * seq) % 20]!], 2_000)
    if (seq % 8 > 0) continue
    await waitForSequence(reader, seq)
    expect(sumHeldBytes(memory)).toBeLessThanOrEqual(clientMemoryLimit)
    expect(sharedBytes(stalled)).toBeLessThanOrEqual(clientMemoryLimit)
    // Other requests still get memory.
    expect(budget.take(clientMemoryLimit / 4)).toBe(true)
    budget.release(clientMemoryLimit / 4)
    for (const [i, connection] of stalled.entries()) if (!connection.isCut && (seq + i) % 40 === 0) connection.read(3)
  }
  expect(watchers.cutStreams).toBeGreaterThan(0)
  expect(reader.isCut).toBe(false)
  const all = (await readSequences(reader)).filter(({ seq }) => seq > 0)
  expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 400 }, (_, i) => i + 1))

  // Cut streams resume at their last sequence.
  for (const [i, connection] of stalled.entries()) {
    if (!connection.isCut || i % 8 > 0) continue
    const before = (await readSequences(connection)).filter(({ seq }) => seq > 0)
    const resumed = open(toStart(i), { after: before.at(-1)?.seq ?? 0, isReading: true })
    const expected = all
      .map(({ seq, keys: changed }) => ({ seq, keys: changed.filter((key) => key >= toName(i)) }))
      .filter(({ keys: changed }) => changed.length > 0)
    if (expected.at(-1)!.seq > (before.at(-1)?.seq ?? 0)) await waitForSequence(resumed, expected.at(-1)!.seq)
    expect([...before, ...(await readSequences(resumed))].filter(({ seq }) => seq > 0)).toEqual(expected)
    resumed.destroy()
  }
  for (const connection of stalled) connection.destroy()
  await waitForClose()
  expect([watchers.streams, watchers.unreadBytes, sumHeldBytes(memory)]).toEqual([1, 0, 0])
})

it('ranges share their common chunks: 200 of them need little more memory than one', async () => {
  const { feed, watchers, open } = openWatchers({ clientMemoryLimit: 64 * MIB })
  const stalled = Array.from({ length: 200 }, (_, i) => open(toStart(i)))
  const reader = open({ start: '' }, { isReading: true })
  await waitForSequence(reader, 0)
  const [count, bytes] = [100, 50_000]
  for (let seq = 1; seq <= count; seq++) {
    put(feed, seq, [toName((37 * seq) % 200)], bytes)
    if (seq % 10 === 0) await waitForSequence(reader, seq)
  }
  expect(watchers.cutStreams).toBe(0)
  expect(sharedBytes(stalled)).toBeGreaterThan(count * bytes)
  expect(sharedBytes(stalled)).toBeLessThan(1.2 * count * bytes)
  // The count includes all of these bytes and those of the pending writes.
  const writes = stalled.reduce((sum, { unread }) => sum + unread.length, 0)
  expect(watchers.unreadBytes).toBeGreaterThan(sharedBytes(stalled) + 60 * writes)
  expect(watchers.unreadBytes).toBeLessThan(sharedBytes(stalled) + 200 * writes)
})

it('a range has one chunk and one write for all its streams, for any number of changes per page', async () => {
  const { feed, open } = openWatchers({ clientMemoryLimit: 64 * MIB })
  const stalled = Array.from({ length: 1_000 }, () => open({ start: 'k' }))
  const reader = open({ start: '' }, { isReading: true })
  await waitForSequence(reader, 0)
  const written = stalled[0]!.unread.length
  for (let seq = 1; seq <= 50; seq++) put(feed, seq, ['k1', 'k2'], 100)
  await waitForSequence(reader, 50)
  const [chunk, ...others] = stalled[0]!.unread.slice(written)
  expect(others).toEqual([])
  for (const { unread } of stalled) expect(unread.slice(written)).toEqual([chunk])
  expect(new Set(stalled.map(({ unread }) => unread.at(-1))).size).toBe(1)
})

it('300 clients that resume at once and do not read hold one page each, and pages are read one at a time', async () => {
  const feed = createFeed()
  for (let seq = 1; seq <= 1_000; seq++) put(feed, seq, [toName(seq % 100)], 16_000)
  let pages = 0
  let maxPages = 0
  const { memory, watchers, open } = openWatchers({
    clientMemoryLimit: 256 * MIB,
    feed,
    changes: async (after, ...rest) => {
      maxPages = Math.max(maxPages, ++pages)
      await nextTurn()
      pages--
      return feed.readAfter(after!, ...rest)
    },
  })
  const stalled = Array.from({ length: 300 }, (_, i) => open(toStart(i % 100), { after: i }))
  await waitUntil(() => stalled.every(({ unread }) => unread.length > 1))
  expect(maxPages).toBe(1)
  expect(watchers.cutStreams).toBe(0)
  expect(sharedBytes(stalled)).toBeLessThan(300 * 200_000)
  expect(sumHeldBytes(memory)).toBeGreaterThan(sharedBytes(stalled))
  expect(sumHeldBytes(memory)).toBeLessThan(300 * 200_000)
  const reader = open({ start: '' }, { after: 0, isReading: true })
  await waitForSequence(reader, 1_000)
  expect(await readSequences(reader)).toHaveLength(1_000)
  for (const connection of stalled) connection.destroy()
  await waitForClose()
  expect(sumHeldBytes(memory)).toBe(0)
})

it('a lookup of the start sequence of a stream reads no page', async () => {
  const feed = createFeed()
  for (let seq = 1; seq <= 10; seq++) put(feed, seq, ['k'], 100_000)
  const pages: number[] = []
  const { watchers } = openWatchers({
    clientMemoryLimit: MIB,
    feed,
    changes: async (after, ...rest) => {
      const page = await feed.readAfter(after!, ...rest)
      if (page) pages.push(page.writes.length)
      return page
    },
  })
  await watchers.checkCapacity(3)
  await watchers.checkCapacity(10)
  expect(pages).toEqual([0, 0])
  await expect(watchers.checkCapacity(11)).rejects.toMatchObject({ code: 'SEQUENCE_EXPIRED' })
})

it('threads share one budget, and streams of one thread do not cut those of another', async () => {
  const clientMemoryLimit = 2 * MIB
  const memory = createBudgetMemory(2)
  const one = openWatchers({ clientMemoryLimit, memory, thread: 0 })
  const other = openWatchers({ clientMemoryLimit, memory, thread: 1 })
  const stalled = Array.from({ length: 20 }, (_, i) => one.open(toStart(i)))
  const lagging = other.open({ start: 'k' })
  const readers = [one, other].map(({ open }) => open({ start: '' }, { isReading: true }))
  for (const reader of readers) await waitForSequence(reader, 0)
  for (let seq = 1; seq <= 200; seq++) {
    for (const { feed } of [one, other]) put(feed, seq, [toName(50)], 20_000)
    for (const reader of readers) await waitForSequence(reader, seq)
    // This client reads slowly, but it reads.
    lagging.read(lagging.unread.length - 1)
    expect(sumHeldBytes(memory)).toBeLessThanOrEqual(clientMemoryLimit)
  }
  expect([one.watchers.cutStreams > 0, other.watchers.cutStreams]).toEqual([true, 0])
  for (const connection of [...stalled, lagging]) connection.destroy()
  await waitForClose()
  expect(sumHeldBytes(memory)).toBe(0)
})

it('a change that exceeds the limit goes to a stream without unread bytes', async () => {
  const { feed, memory, watchers, open } = openWatchers({ clientMemoryLimit: 2 * MIB })
  const slow = open({ start: 'k' })
  const reader = open({ start: '' }, { isReading: true })
  await waitForSequence(reader, 0)
  for (let seq = 1; seq <= 3; seq++) {
    put(feed, seq, ['k'], 3 * MIB)
    await waitForSequence(reader, seq)
    slow.read()
    expect([watchers.cutStreams, watchers.unreadBytes, sumHeldBytes(memory)]).toEqual([0, 0, 0])
  }
  expect((await readSequences(slow)).map(({ seq }) => seq)).toEqual([0, 1, 2, 3])
})

it('heartbeats add no memory for a client that does not read', async () => {
  const { feed, watchers, open } = openWatchers({ clientMemoryLimit: MIB, heartbeat: 10 })
  const slow = open({ start: 'k' })
  const reader = open({ start: '' }, { isReading: true })
  await waitForSequence(reader, 0)
  put(feed, 1, ['k'], 100)
  await waitForSequence(reader, 1)
  const written = slow.unread.length
  const heartbeats = reader.received.length + 3
  await waitUntil(() => reader.received.length >= heartbeats)
  expect(slow.unread).toHaveLength(written)
  slow.read()
  await waitUntil(() => slow.unread.length > 0)
  expect(watchers.cutStreams).toBe(0)
})

it('streams release all memory when they end, for any unread bytes', async () => {
  const feed = createFeed()
  const { memory, watchers, open } = openWatchers({ clientMemoryLimit: 8 * MIB, feed })
  let seq = 0
  for (let round = 0; round < 50; round++) {
    const streams = Array.from({ length: 20 }, (_, i) =>
      open(toStart(i), i % 2 === 0 && seq > 0 ? { after: Math.floor(seq / 2) } : {}),
    )
    const reader = open({ start: '' }, { isReading: true })
    for (let i = 0; i < 4; i++) put(feed, ++seq, [toName(30)], 20_000)
    // Some streams end while they still receive earlier changes.
    for (const stream of streams.splice(0, round % 10)) stream.destroy()
    await waitForSequence(reader, seq)
    for (const stream of [...streams, reader]) stream.destroy()
    await waitForClose()
    expect([watchers.streams, watchers.unreadBytes, sumHeldBytes(memory)]).toEqual([0, 0, 0])
  }
})

import { measureHeapUsed } from '@influencer-stats/runtime/testing/heap-used'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { formatEventId, parseEventId } from '../src/core/event-id.ts'
import { createMercureEncoder } from '../src/encoder/mercure-encoder.ts'
import type { Hub } from '../src/hub/hub.ts'
import type { SlowReader } from './support/slow-reader.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import { encoder, startHub } from './support/test-hub.ts'

const turn = () => new Promise(setImmediate)

/** Reads until the stream writes no more. */
async function readAll(reader: SlowReader): Promise<void> {
  for (let before = -1; before < reader.reader.events.length || reader.writableLength > 0;) {
    before = reader.reader.events.length
    reader.take()
    await turn()
  }
}

afterEach(() => void vi.useRealTimers())

describe('a stream with a replay', () => {
  it('gets everything once and in order, at any reading speed and with any puts meanwhile', async () => {
    const topics = ['a', 'b', 'c']
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc
        .tuple(fc.constantFrom('x', '\n', 'é', '😀'), fc.constantFrom(5_000, 20_000, 70_000))
        .map(([char, count]) => char.repeat(count)),
    )
    const put = fc.tuple(fc.constantFrom(...topics), value)
    const step = fc.oneof(put, fc.constant('take' as const))
    await fc.assert(
      fc.asyncProperty(
        fc.array(put, { maxLength: 12 }),
        fc.nat(12),
        fc.option(fc.constant(true)),
        fc.subarray(topics, { minLength: 1 }),
        fc.array(step, { maxLength: 12 }),
        async (before, from, last, topicsToOpen, steps) => {
          const { history, put, open } = startHub()
          const all = before.map(([topic, text]) => put(topic, text))
          const resumeAfter = Math.min(from, history.seq)
          const reader = open(topicsToOpen, last ? { last } : { resumeAfter })
          const current = new Set(topicsToOpen.map((topic) => history.getCurrent(topic)?.seq))
          for (const one of steps) {
            if (one === 'take') {
              reader.take()
              await turn()
            } else all.push(put(...one))
          }
          await readAll(reader)
          const mine = all.filter(({ topic }) => topicsToOpen.includes(topic))
          // With `last`, a value that was current at the opening may be omitted once it is replaced.
          const must = mine.filter(({ seq }) => (last ? seq > before.length : seq > resumeAfter))
          const may = mine.filter(({ seq }) => must.some((one) => one.seq === seq) || (last && current.has(seq)))
          const ids = reader.reader.events.map(({ lastEventId }) => lastEventId)
          const received = may.filter(({ seq }) => ids.includes(formatEventId(history.epoch, seq)))
          expect(received).toEqual(expect.arrayContaining(must))
          expect(ids).toEqual(received.map(({ seq }) => formatEventId(history.epoch, seq)))
          expect(reader.values).toEqual(received.map(({ value: text }) => text.replace(/\r\n|\r/g, '\n')))
          // At the client's position, no event is missing.
          const { seq: at } = parseEventId(reader.reader.latestId)!
          expect(at).toBeLessThanOrEqual(history.seq)
          expect(mine.filter(({ seq }) => seq > at)).toEqual([])
        },
      ),
      { numRuns: scaleRuns(30) },
    )
  })

  it.each([
    ['many small values', 2_000, 1_000],
    ['a few large ones', 4, 1_000_000],
    ['line ends, which take seven times their size on the stream', 2, 100_000, '\n'],
  ])('holds one slice until its client takes it: %s', async (_what, count, length, char = 'x') => {
    const { put, open, hub } = startHub()
    const value = char.repeat(length)
    for (let i = 0; i < count; i++) put('a', value)
    const readers = [open(['a'], { resumeAfter: 0 }), open(['a'], { last: true })]
    for (let i = 0; i < 10; i++) await turn()
    for (const { maxUnreadBytes: most, reader } of readers) {
      expect(most).toBeLessThan(200_000)
      expect(reader.events).toEqual([])
    }
    expect(hub.size).toBe(2)
    expect(hub.topics.getCount('a')).toBe(2)
    for (const reader of readers) await readAll(reader)
    expect(readers.map(({ values }) => values.length)).toEqual([count, 1])
    expect(readers.every(({ maxUnreadBytes: most }) => most < 200_000)).toBe(true)
  })

  it('gets a value that is larger than the stream buffer, and then the others', async () => {
    const { put, open, hub } = startHub({ streamBuffer: 1_000 })
    const large = 'x'.repeat(1_000_000)
    put('a', large)
    const reader = open(['a'], { resumeAfter: 0 })
    for (let i = 0; i < 3; i++) {
      hub.sendHeartbeats()
      reader.take()
      await turn()
    }
    await readAll(reader)
    put('a', 'next')
    await readAll(reader)
    expect(reader.values).toEqual([large, 'next'])
    expect(reader.isDestroyed).toBe(false)
  })

  it('reports each loss once, at its position', async () => {
    const { put, open } = startHub({ count: 3 })
    for (let i = 0; i < 5; i++) put('a', `a${i} ${'x'.repeat(200_000)}`)
    const reader = open(['a', 'b'], { resumeAfter: 1 })
    reader.take()
    await turn()
    for (let i = 5; i < 10; i++) put('a', `a${i}`)
    await readAll(reader)
    const received = reader.reader.events.map(({ type, data }) => (type === 'gap' ? 'gap' : data.split(' ')[0]))
    expect(received.filter((word) => word === 'gap')).toHaveLength(2)
    expect(received[0]).toBe('gap')
    expect(received.slice(-4)).toEqual(['gap', 'a7', 'a8', 'a9'])
  })

  it('ends at a loss if only the next reply can report it', async () => {
    const { put, open, hub } = startHub({ count: 3 })
    for (let i = 0; i < 5; i++) put('a', `a${i} ${'x'.repeat(200_000)}`)
    const reader = open(['a'], { resumeAfter: 2, encoder: createMercureEncoder() })
    reader.take()
    await turn()
    for (let i = 5; i < 10; i++) put('a', `a${i}`)
    await readAll(reader)
    expect(reader.isEnded).toBe(true)
    expect(hub.size).toBe(0)
    // It resumes after the last event that it received whole.
    expect(reader.values.map((value) => value.split(' ')[0])).toEqual(['a2'])
    expect(parseEventId(reader.reader.lastEventId)!.seq).toBe(3)
  })

  it('reports an earlier loss once, although the histories of its topics have different lengths', async () => {
    const { put, open } = startHub({ count: 3 })
    for (let i = 0; i < 5; i++) put('b', `b${i} ${'x'.repeat(200_000)}`)
    for (let i = 0; i < 10; i++) put('a', `a${i}`)
    const reader = open(['a', 'b'], { resumeAfter: 1 })
    await readAll(reader)
    const received = reader.reader.events.map(({ type, data }) => (type === 'gap' ? 'gap' : data.split(' ')[0]))
    expect(received).toEqual(['gap', 'b2', 'b3', 'b4', 'a7', 'a8', 'a9'])
  })

  it('ends with the closing only after its replay', async () => {
    const { history, hub, put, open } = startHub()
    for (let i = 0; i < 10; i++) put('a', `${i} ${'x'.repeat(60_000)}`)
    const reader = open(['a'], { resumeAfter: 0 })
    void history.append([], 11)
    hub.deliver([{ seq: 11, closing: true }])
    await readAll(reader)
    expect(reader.reader.events.map(({ type }) => type)).toEqual([...Array(10).fill('message'), 'closed'])
    expect(reader.isEnded).toBe(true)
    expect(hub.size).toBe(0)
  })

  it('ends at once when the service stops, between two events', async () => {
    const { hub, put, open } = startHub()
    for (let i = 0; i < 30; i++) put('a', `${i} ${'x'.repeat(4_000)}`)
    const reader = open(['a'], { resumeAfter: 0 })
    hub.end()
    expect(reader.isEnded).toBe(true)
    await readAll(reader)
    expect(reader.values.length).toBeLessThan(30)
    expect(reader.reader.retry).toBeGreaterThanOrEqual(2_000)
    expect(reader.chunks.isEnded).toBe(true)
    expect(hub.size).toBe(0)
  })

  it.each([
    ['the service stops', (hub: Hub) => hub.end()],
    ['its token expires', (hub: Hub, reader: SlowReader) => hub.finish(reader)],
  ])('is cut within a large value when %s, and no part of the value becomes an event', async (_when, end) => {
    const { hub, put, open } = startHub()
    for (let i = 0; i < 3; i++) put('a', `${i} ${'x'.repeat(50_000)}`)
    const reader = open(['a'], { resumeAfter: 0 })
    end(hub, reader)
    expect([reader.isEnded, reader.isDestroyed, hub.size]).toEqual([false, true, 0])
    await readAll(reader)
    expect(reader.values.map((value) => value.split(' ')[0])).toEqual(['0'])
    expect(reader.chunks.isEnded).toBe(false)
  })

  it('is cut if its client reads nothing for the timeout, but not if it reads slowly', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { hub, put, open } = startHub({ sendTimeout: 1_000 })
    for (let i = 0; i < 20; i++) put('a', `${i} ${'x'.repeat(60_000)}`)
    const [silent, slow] = [open(['a'], { resumeAfter: 0 }), open(['a'], { resumeAfter: 0 })]
    for (let i = 0; i < 3; i++) {
      vi.advanceTimersByTime(600)
      slow.take()
      await turn()
      hub.sendHeartbeats()
    }
    expect([silent.isDestroyed, slow.isDestroyed]).toEqual([true, false])
    expect(hub.metrics.cut).toBe(1)
    expect(hub.size).toBe(1)
  })

  it('yields to others: 100 replays at once write a limited amount per turn', async () => {
    const { put, open } = startHub()
    for (let i = 0; i < 20; i++) put('a', `${i} ${'x'.repeat(60_000)}`)
    const readers = Array.from({ length: 100 }, () => open(['a'], { resumeAfter: 0 }))
    for (let i = 0; i < 20; i++) {
      for (const reader of readers) reader.take()
      await turn()
      const written = readers.reduce((sum, { writableLength }) => sum + writableLength, 0)
      expect(written).toBeLessThan(2_000_000)
    }
  })
})

describe('a stream without a replay', () => {
  it('gets each later value of its topics once until it is removed', () => {
    const { hub, put, open } = startHub()
    put('a', 'before')
    const readers = [open(['a']), open(['a']), open(['a', 'b'])]
    put('a', '1')
    hub.remove(readers[1]!)
    put('a', '2')
    put('b', '3')
    for (const reader of readers) reader.take()
    expect(readers.map(({ values }) => values)).toEqual([['1', '2'], ['1'], ['1', '2', '3']])
    expect(hub.metrics).toMatchObject({ events: 4, deliveries: 6, cut: 0 })
    expect(hub.size).toBe(2)
  })

  it('gets the heartbeats of its encoder', () => {
    const { hub, open } = startHub()
    const encoders = [encoder, createMercureEncoder()]
    const readers = encoders.map((one) => open(['a'], { encoder: one }))
    for (let beat = 1; beat <= 2; beat++) {
      for (const reader of readers) reader.take()
      hub.sendHeartbeats()
      expect(readers.map(({ writableLength }) => writableLength)).toEqual(
        encoders.map(({ heartbeat, framing }) => Buffer.byteLength(framing.frame(heartbeat))),
      )
    }
  })
})

describe('clients that lost their streams', () => {
  it.each([
    ['because the service stopped', (hub: Hub) => hub.end()],
    ['because it was killed', () => {}],
  ])('get different reconnection times: %s', (_why, lose) => {
    const { hub, open } = startHub({ retry: 10_000 })
    const readers = Array.from({ length: 400 }, () => open(['a']))
    lose(hub)
    for (const reader of readers) reader.take()
    const within = (from: number, to: number) =>
      readers.filter(({ reader }) => reader.retry! >= from && reader.retry! < to).length
    expect(within(10_000, 20_001)).toBe(400)
    // Each quarter has about 100 clients. By chance, fewer than 50 occur less often than once in a million runs.
    for (let i = 0; i < 4; i++) expect(within(10_000 + i * 2_500, 12_500 + i * 2_500)).toBeGreaterThan(50)
  })
})

it('frees the memory of removed streams, also if others remain on one of their topics', () => {
  const { hub, open } = startHub()
  open(['shared'])
  const openAndRemove = (count: number) => {
    for (let i = 0; i < count; i++) hub.remove(open(['shared', `own ${i}`]))
  }
  openAndRemove(100)
  const before = measureHeapUsed()
  openAndRemove(5_000)
  // Otherwise they would take 4 MB.
  expect(measureHeapUsed() - before).toBeLessThan(1_000_000)
  expect(hub.size).toBe(1)
})

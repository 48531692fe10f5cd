import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readChanges, type ChangePage } from '../src/core/change-pages.ts'
import { toIdempotencyRow } from '../src/core/internal-keys.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeWrites, type LoggedWrite } from '../src/core/encode-writes.ts'
import { createRevisionsMemory } from '../src/revisions.ts'
import { ChangeFeed } from '../src/watch/change-feed.ts'
import { LocalFeed } from '../src/watch/local-feed.ts'
import { createWriteRecorder, toWatchEvents } from '../src/watch/write-recorder.ts'

const createWrites = (...ids: string[]) =>
  encodeWrites(ids.map((id) => ({ ops: [{ type: 'del' as const, key: Buffer.from(id) }] })))

/** The result of an evaluation, by write. */
function evaluateAll(...holds: boolean[]) {
  const outcomes = holds.map((isHeld) => (isHeld ? 'revision' : undefined))
  return { outcomes, effects: outcomes }
}

const toText = (page: ChangePage | undefined) =>
  page && [...readChanges(page)].map(({ seq, ops }) => [seq, ops.map(({ key }) => key.toString()).join()])

describe('the feed of changes', () => {
  it('returns all changes after a sequence, page by page, or reports that it has expired', async () => {
    const size = fc.integer({ min: 1, max: 65_000 })
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 40 }), fc.integer({ min: 1, max: 2e6 }), async (sizes, maxBytes) => {
        const feed = new ChangeFeed(maxBytes)
        feed.start(10)
        for (const [i, bytes] of sizes.entries()) feed.add({ seq: 12 + 2 * i, writes: createWrites('x'.repeat(bytes)) })
        const last = 10 + 2 * sizes.length
        const all = sizes.map((_, i) => 12 + 2 * i)
        for (const from of [10, ...all]) {
          let at = from
          const found: number[] = []
          for (;;) {
            const page = await feed.readAfter(at, 0)
            if (!page) break
            expect(page.isEnd).toBe(page.upTo === last)
            found.push(...page.seqs)
            at = page.upTo
            if (page.isEnd) break
          }
          // The feed retains the newest change, and older ones up to its limit. It returns either all changes or an
          // error.
          const expectedSeqs = all.filter((seq) => seq > from)
          const isRetained = sizes.slice(-expectedSeqs.length).reduce((sum, bytes) => sum + bytes + 112, 0)
          if (expectedSeqs.length <= 1 || isRetained <= maxBytes) expect(found).toEqual(expectedSeqs)
          else expect(found).toEqual([])
        }
        expect(await feed.readAfter(9, 0)).toBeUndefined()
        expect(await feed.readAfter(last + 1, 0)).toBeUndefined()
      }),
      { numRuns: 50 },
    )
  })

  it('waits for the next change, up to the given time', async () => {
    const feed = new ChangeFeed(1e6)
    feed.start(1)
    const waiting = feed.readAfter(1, 60_000)
    feed.add({ seq: 2, writes: createWrites('a') })
    feed.add({ seq: 2, writes: createWrites('b') })
    expect(toText(await waiting)).toEqual([[2, 'a,b']])
    expect(toText(await feed.readAfter(2, 1))).toEqual([])
    expect(feed.hasWaiters).toBe(false)
    const passing = feed.readAfter(2, 60_000)
    feed.advanceTo(5)
    expect((await passing)!.upTo).toBe(5)
    const removed = feed.readAfter(5, 60_000)
    feed.stop()
    expect(await removed).toBeUndefined()
    expect(await feed.readAfter(5, 0)).toBeUndefined()
  })
})

it('a watcher gets changes and expiries of users, and no internal entries', () => {
  const key = Buffer.from('k')
  const value = Buffer.from('1')
  const writes: LoggedWrite[] = [
    { ops: [{ type: 'del', key: toIdempotencyRow('n') }] },
    { ops: [{ type: 'put', key, value, ttl: 10 }], idempotencyKey: 'n', isSpecial: true },
    { ops: [{ type: 'del', key: Buffer.from('refused') }] },
  ]
  expect(toWatchEvents(writes, ['revision', 'revision', undefined], 5)).toEqual([
    { ops: [{ type: 'put', key, value, expiresAt: 15 }] },
  ])
})

describe('the changes of a standalone service', () => {
  function openFeed(waitUntilSettled = async () => {}, idleTimeout?: number) {
    const revisions = createRevisionsMemory()
    const words = new BigInt64Array(revisions)
    const feed = new LocalFeed({ revisions, maxBytes: 1e6, waitUntilSettled, ...(idleTimeout && { idleTimeout }) })
    const recorder = createWriteRecorder(feed.memory, {
      recordWrites: async (...given) => feed.recordWrites(...given),
      recordLost: async () => feed.reset(),
    })
    /** Takes revisions, like a thread. */
    const take = (count: number) => Number(Atomics.add(words, 0, BigInt(count))) + 1
    return { feed, recorder, take }
  }
  const write = (id: string) => ({ ops: [{ type: 'del' as const, key: Buffer.from(id) }] })

  it('have the order of their revisions, in whatever order threads report them', async () => {
    const group = fc.array(fc.boolean(), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(group, { maxLength: 12 }),
        fc.infiniteStream(fc.nat()),
        async (groups, outcomesDrawn) => {
          const { feed, recorder, take } = openFeed()
          take(1_000)
          const { upTo: from } = (await feed.readAfter(undefined, 0))!
          expect(from).toBe(1_000)
          const taken = groups.map((outcomes) => ({ first: take(outcomes.length), outcomes }))
          const expected = taken.flatMap(({ first, outcomes }) => {
            const ids = outcomes.flatMap((isHeld, i) => (isHeld ? [String(first + i)] : []))
            return ids.length > 0 ? [[first + outcomes.length - 1, ids.join()]] : []
          })
          while (taken.length > 0) {
            const [{ first, outcomes }] = taken.splice(outcomesDrawn.next().value! % taken.length, 1) as [
              (typeof taken)[0],
            ]
            recorder.recordWrites(
              first,
              outcomes.map((_, i) => write(String(first + i))),
              evaluateAll(...outcomes),
            )
          }
          const page = (await feed.readAfter(from, 0))!
          expect(toText(page)).toEqual(expected)
          expect(page.upTo).toBe(1_000 + groups.flat().length)
          feed.close()
        },
      ),
    )
  })

  it('are recorded once earlier writes have settled, and only while a client watches', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const settling = Promise.withResolvers<void>()
    const { feed, recorder, take } = openFeed(() => settling.promise, 50)
    const early = take(1)
    recorder.recordWrites(early, [write('nobody watches')], evaluateAll(true))
    const late = take(1)
    const begun = feed.readAfter(undefined, 0)
    // The revision is taken before the start, and reported after it.
    recorder.recordWrites(late, [write('late')], evaluateAll(true))
    const next = take(1)
    recorder.recordWrites(next, [write('next')], evaluateAll(true))
    let isBegun = false
    void begun.then(() => (isBegun = true))
    await nextTurn()
    expect(isBegun).toBe(false)
    settling.resolve()
    expect((await begun)!.upTo).toBe(next)
    for (let settleCount = 0; settleCount < 3; settleCount++) {
      vi.advanceTimersByTime(49)
      expect(toText(await feed.readAfter(late, 0))).toEqual([[next, 'next']])
    }
    vi.advanceTimersByTime(50)
    expect(await feed.readAfter(late, 0)).toBeUndefined()
    // Now no client watches.
    recorder.recordWrites(take(1), [write('x')], evaluateAll(true))
    expect((await feed.readAfter(undefined, 0))!.seqs).toEqual([])
    feed.close()
  })

  it('start again if the result of a revision is unknown', async () => {
    const { feed, recorder, take } = openFeed()
    const { upTo } = (await feed.readAfter(undefined, 0))!
    const waiting = feed.readAfter(upTo, 60_000)
    take(1)
    recorder.recordWrites(take(1), [write('behind it')], evaluateAll(true))
    recorder.recordLost()
    expect(await waiting).toBeUndefined()
    expect(await feed.readAfter(upTo, 0)).toBeUndefined()
    const again = (await feed.readAfter(undefined, 0))!
    expect(again.upTo).toBe(upTo + 2)
    recorder.recordWrites(take(1), [write('on it goes')], evaluateAll(true))
    expect(toText(await feed.readAfter(again.upTo, 0))).toEqual([[upTo + 3, 'on it goes']])
    feed.close()
  })
})

import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { changesOf, type Page } from '../src/core/changes.ts'
import { nameKey } from '../src/core/own-keys.ts'
import { turn } from '../src/core/turn.ts'
import { encodeWrites, type LoggedWrite } from '../src/core/writes.ts'
import { revisionsMemory } from '../src/store/revisions.ts'
import { Feed } from '../src/watch/feed.ts'
import { LocalFeed } from '../src/watch/local-feed.ts'
import { createRecorder, toTell } from '../src/watch/recorder.ts'

const writesOf = (...ids: string[]) =>
  encodeWrites(ids.map((id) => ({ ops: [{ type: 'del' as const, key: Buffer.from(id) }] })))

/** What was judged to happen, and what not. */
function judged(...holds: boolean[]) {
  const outcomes = holds.map((isHeld) => (isHeld ? 'revision' : undefined))
  return { outcomes, effects: outcomes }
}

const toText = (page: Page | undefined) =>
  page && [...changesOf(page)].map(({ seq, ops }) => [seq, ops.map(({ key }) => key.toString()).join()])

describe('the feed of changes', () => {
  it('gives what came after a place, page by page, or says that it is gone', async () => {
    const size = fc.integer({ min: 1, max: 65_000 })
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 40 }), fc.integer({ min: 1, max: 2e6 }), async (sizes, maxBytes) => {
        const feed = new Feed(maxBytes)
        feed.start(10)
        for (const [i, bytes] of sizes.entries()) feed.add({ seq: 12 + 2 * i, writes: writesOf('x'.repeat(bytes)) })
        const last = 10 + 2 * sizes.length
        const all = sizes.map((_, i) => 12 + 2 * i)
        for (const from of [10, ...all]) {
          let at = from
          const found: number[] = []
          for (;;) {
            const page = await feed.after(at, 0)
            if (!page) break
            expect(page.isEnd).toBe(page.upTo === last)
            found.push(...page.seqs)
            at = page.upTo
            if (page.isEnd) break
          }
          // The newest is kept, and of the others as many as fit; then all of them.
          const wanted = all.filter((seq) => seq > from)
          const kept = sizes.slice(-wanted.length).reduce((sum, bytes) => sum + bytes + 112, 0)
          if (wanted.length <= 1 || kept <= maxBytes) expect(found).toEqual(wanted)
          else expect(found).toEqual([])
        }
        expect(await feed.after(9, 0)).toBeUndefined()
        expect(await feed.after(last + 1, 0)).toBeUndefined()
      }),
      { numRuns: 50 },
    )
  })

  it('waits for what comes next, and no longer than it is told to', async () => {
    const feed = new Feed(1e6)
    feed.start(1)
    const waiting = feed.after(1, 60_000)
    feed.add({ seq: 2, writes: writesOf('a') })
    feed.add({ seq: 2, writes: writesOf('b') })
    expect(toText(await waiting)).toEqual([[2, 'a,b']])
    expect(toText(await feed.after(2, 1))).toEqual([])
    const passing = feed.after(2, 60_000)
    feed.advance(5)
    expect((await passing)!.upTo).toBe(5)
    const gone = feed.after(5, 60_000)
    feed.stop()
    expect(await gone).toBeUndefined()
    expect(await feed.after(5, 0)).toBeUndefined()
  })
})

it('who watches is told what users have changed and when it expires, and nothing that only the service keeps', () => {
  const key = Buffer.from('k')
  const value = Buffer.from('1')
  const writes: LoggedWrite[] = [
    { ops: [{ type: 'del', key: nameKey('n') }] },
    { ops: [{ type: 'put', key, value, ttl: 10 }], idempotencyKey: 'n', isSpecial: true },
    { ops: [{ type: 'del', key: Buffer.from('refused') }] },
  ]
  expect(toTell(writes, ['revision', 'revision', undefined], 5)).toEqual([
    { ops: [{ type: 'put', key, value, expiresAt: 15 }] },
  ])
})

describe('the changes of a service that runs alone', () => {
  function open(settled = async () => {}, patience?: number) {
    const revisions = revisionsMemory()
    const words = new BigInt64Array(revisions)
    const feed = new LocalFeed({ revisions, maxBytes: 1e6, settled, ...(patience && { patience }) })
    const recorder = createRecorder(feed.memory, {
      wrote: async (...given) => feed.wrote(...given),
      lost: async () => feed.lost(),
    })
    /** Takes so many revisions, as a thread does. */
    const take = (count: number) => Number(Atomics.add(words, 0, BigInt(count))) + 1
    return { feed, recorder, take }
  }
  const write = (id: string) => ({ ops: [{ type: 'del' as const, key: Buffer.from(id) }] })

  it('come in the order of their revisions, in whatever order threads tell of them', async () => {
    const group = fc.array(fc.boolean(), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(group, { maxLength: 12 }), fc.infiniteStream(fc.nat()), async (groups, chances) => {
        const { feed, recorder, take } = open()
        take(1_000)
        const { upTo: from } = (await feed.after(undefined, 0))!
        expect(from).toBe(1_000)
        const told = groups.map((outcomes) => ({ first: take(outcomes.length), outcomes }))
        const expected = told.flatMap(({ first, outcomes }) => {
          const ids = outcomes.flatMap((isHeld, i) => (isHeld ? [String(first + i)] : []))
          return ids.length > 0 ? [[first + outcomes.length - 1, ids.join()]] : []
        })
        while (told.length > 0) {
          const [{ first, outcomes }] = told.splice(chances.next().value! % told.length, 1) as [(typeof told)[0]]
          recorder.wrote(
            first,
            outcomes.map((_, i) => write(String(first + i))),
            judged(...outcomes),
          )
        }
        const page = (await feed.after(from, 0))!
        expect(toText(page)).toEqual(expected)
        expect(page.upTo).toBe(1_000 + groups.flat().length)
        feed.close()
      }),
    )
  })

  it('are kept from when what was on its way to the disk is there, and only while somebody asks', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const gate = Promise.withResolvers<void>()
    const { feed, recorder, take } = open(() => gate.promise, 50)
    const early = take(1)
    recorder.wrote(early, [write('nobody watches')], judged(true))
    const late = take(1)
    const begun = feed.after(undefined, 0)
    // Taken before, told after that.
    recorder.wrote(late, [write('late')], judged(true))
    const next = take(1)
    recorder.wrote(next, [write('next')], judged(true))
    let isBegun = false
    void begun.then(() => (isBegun = true))
    await turn()
    expect(isBegun).toBe(false)
    gate.resolve()
    expect((await begun)!.upTo).toBe(next)
    for (let asked = 0; asked < 3; asked++) {
      vi.advanceTimersByTime(49)
      expect(toText(await feed.after(late, 0))).toEqual([[next, 'next']])
    }
    vi.advanceTimersByTime(50)
    expect(await feed.after(late, 0)).toBeUndefined()
    // Nobody is told now.
    recorder.wrote(take(1), [write('x')], judged(true))
    expect((await feed.after(undefined, 0))!.seqs).toEqual([])
    feed.close()
  })

  it('begin anew where nobody knows what became of a revision', async () => {
    const { feed, recorder, take } = open()
    const { upTo } = (await feed.after(undefined, 0))!
    const waiting = feed.after(upTo, 60_000)
    take(1)
    recorder.wrote(take(1), [write('behind it')], judged(true))
    recorder.lost()
    expect(await waiting).toBeUndefined()
    expect(await feed.after(upTo, 0)).toBeUndefined()
    const again = (await feed.after(undefined, 0))!
    expect(again.upTo).toBe(upTo + 2)
    recorder.wrote(take(1), [write('on it goes')], judged(true))
    expect(toText(await feed.after(again.upTo, 0))).toEqual([[upTo + 3, 'on it goes']])
    feed.close()
  })
})

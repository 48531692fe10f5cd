import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createSelectors } from '../src/core/selectors.ts'
import type { Event } from '../src/core/event.ts'
import { EVENT_COST, TOPIC_COST } from '../src/history/cost.ts'
import type { History, HistoryOptions } from '../src/history/history.ts'

export interface HistoryTraits {
  /** Most events that it keeps of a topic, whatever it is told. */
  readonly most: number
}

const wide = { count: 1_000, bytes: 1_000_000, age: 3_600_000, topics: 100, total: 10_000_000 }

/** What every history must do. @param open a new, empty history */
export function historyConformance(
  name: string,
  open: (options: Omit<HistoryOptions, 'folder'>) => Promise<History>,
  { most }: HistoryTraits,
): void {
  describe(`history ${name}`, () => {
    const opened: History[] = []
    afterEach(async () => {
      for (const history of opened.splice(0)) await history.close()
    })
    async function start(options: Partial<HistoryOptions> = {}) {
      const history = await open({ ...wide, ...options })
      opened.push(history)
      let { seq } = history
      const add = async (...puts: [topic: string, value: string, at?: number][]) => {
        const events = puts.map(([topic, value, at = Date.now()]): Event => ({ seq: ++seq, at, topic, value }))
        await history.append(events)
        return events
      }
      return { history, add }
    }

    it('knows nothing at first, and misses nothing', async () => {
      const { history } = await start()
      expect(history.current('a')).toBeUndefined()
      expect(history.since(createSelectors(['a', 'b']), history.seq)).toMatchObject({ events: [], complete: true })
      expect(history.epoch).toMatch(/^[a-z0-9]{1,16}$/)
    })

    it('gives what came after, of the topics asked for, in one order', async () => {
      const { history, add } = await start()
      const events = await add(['a', '1'], ['b', '2'], ['c', '3'])
      expect(history.since(createSelectors(['b', 'a', 'none']), events[0]!.seq - 1)).toMatchObject({
        events: events.slice(0, 2),
        complete: true,
      })
      expect(history.since(createSelectors(['a', 'b']), events[0]!.seq)).toMatchObject({
        events: [events[1]],
        complete: true,
      })
      expect(history.seq).toBe(events[2]!.seq)
    })

    it('keeps the current value, however old, large or often skipped', async () => {
      const { history, add } = await start({ age: 1, bytes: 1 })
      const [event] = await add(['a', 'x'.repeat(1_000), Date.now() - 10_000])
      await history.append([], history.seq + 10)
      expect(history.current('a')).toEqual(event)
      const [newer] = await add(['a', 'newer'])
      expect(history.current('a')).toEqual(newer)
    })

    it.each([
      ['count', { count: 3 }, Math.min(3, most)],
      ['bytes', { bytes: 3 * (EVENT_COST + 2) }, Math.min(3, most)],
    ])('keeps no more of a topic than its %s allows, and says so', async (_what, options, kept) => {
      const { history, add } = await start(options)
      const events: Event[] = []
      for (let i = 0; i < 10; i++) events.push(...(await add(['a', `${i}é`.slice(0, 1) + 'x'])))
      const firstKept = events.at(-kept)!
      expect(history.since(createSelectors(['a']), firstKept.seq - 1)).toMatchObject({
        events: events.slice(-kept),
        complete: true,
      })
      expect(history.since(createSelectors(['a']), firstKept.seq - 2)).toMatchObject({
        events: events.slice(-kept),
        complete: false,
      })
    })

    it('forgets what is too old, and says so', async () => {
      const { history, add } = await start({ age: 1_000 })
      const [old, young] = await add(['a', 'old', Date.now() - 5_000], ['a', 'young'])
      expect(history.since(createSelectors(['a']), old!.seq - 1)).toMatchObject({ events: [young], complete: false })
      expect(history.since(createSelectors(['a']), old!.seq)).toMatchObject({ events: [young], complete: true })
    })

    it.each([
      ['topics', { topics: 2 }],
      ['bytes', { total: 2 * (TOPIC_COST + EVENT_COST) + 50 }],
    ])('forgets a topic when there are too many %s, and says so', async (_what, options) => {
      const { history, add } = await start(options)
      const events = await add(['a', '1'], ['b', '12'], ['b', '34'], ['a', '1'], ['c', '1234'])
      expect(history.current('b')).toBeUndefined()
      expect(history.current('a')).toEqual(events[3])
      expect(history.since(createSelectors(['b']), events[2]!.seq)).toMatchObject({ events: [], complete: true })
      expect(history.since(createSelectors(['b']), events[1]!.seq)).toMatchObject({ events: [], complete: false })
    })

    it.each([
      ['values', { total: 100_000 }, 20],
      ['topics', { topics: 100 }, 1_000],
    ])('keeps the current values of the quiet, however many %s somebody puts', async (_what, options, topics) => {
      const { history, add } = await start(options)
      const quiet = await add(...Array.from({ length: 30 }, (_, i) => [`quiet${i}`, `${i}`] as [string, string]))
      for (let i = 0; i < 50; i++) {
        await add(
          ...Array.from(
            { length: topics },
            (_, k) => [`busy${(i * 7 + k) % topics}`, 'x'.repeat(1_000)] as [string, string],
          ),
        )
      }
      expect(quiet.map(({ topic }) => history.current(topic))).toEqual(quiet)
    })

    it('lets go of values of several topics for one large one, and of no topic', async () => {
      const { history, add } = await start({ total: 20_000 })
      const topics = Array.from({ length: 10 }, (_, i) => `t${i}`)
      for (let i = 0; i < 9; i++) await add(...topics.map((topic) => [topic, `${i}`] as [string, string]))
      await add(['large', 'x'.repeat(10_000)])
      expect(topics.map((topic) => history.current(topic)?.value)).toEqual(Array(10).fill('8'))
    })

    it('has room again for new topics when those that came first are not put to for a day', async () => {
      const { history, add } = await start({ topics: 4 })
      const day = 86_400_000
      await add(
        ...['a', 'b', 'c', 'd'].map((topic) => [topic, 'old', Date.now() - 2 * day] as [string, string, number]),
      )
      for (const topic of ['e', 'f', 'g', 'h']) await add([topic, 'new'])
      expect(['e', 'f', 'g', 'h'].map((topic) => history.current(topic)?.value)).toEqual(Array(4).fill('new'))
    })

    it('never claims to be complete when it is not, whatever is put', async () => {
      const put = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.string({ maxLength: 4 }))
      await fc.assert(
        fc.asyncProperty(
          fc.array(put, { maxLength: 40 }),
          fc.nat(40),
          fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }),
          async (puts, from, topics) => {
            const { history, add } = await start({
              count: 4,
              bytes: 3 * EVENT_COST,
              topics: 3,
              total: 3 * TOPIC_COST + 6 * EVENT_COST,
            })
            const first = history.seq
            const all: Event[] = []
            for (const one of puts) all.push(...(await add(one)))
            const { events, complete } = history.since(createSelectors(topics), first + from)
            const expected = all.filter(({ topic, seq }) => topics.includes(topic) && seq > first + from)
            if (complete) expect(events).toEqual(expected)
            else {
              expect(expected).toEqual(expect.arrayContaining([...events]))
              expect(events).toEqual(events.toSorted((one, other) => one.seq - other.seq))
            }
          },
        ),
        { numRuns: 40 },
      )
    })

    it('can be closed twice', async () => {
      const { history } = await start()
      await history.close()
      await history.close()
    })
  })
}

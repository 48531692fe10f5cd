import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createSelectors, isSelected } from '../src/core/selectors.ts'
import { getTopics, type Event } from '../src/core/event.ts'
import { PUBLIC_SCOPE } from '../src/core/read-scope.ts'
import { EVENT_COST_BYTES, TOPIC_COST_BYTES } from '../src/history/event-cost.ts'
import type { History, HistoryOptions } from '../src/history/history.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

export interface HistoryTraits {
  /** Maximum events of a topic, regardless of the settings. */
  readonly maxCount: number
}

const wide = { count: 1_000, bytes: 1_000_000, age: 3_600_000, topics: 100, total: 10_000_000 }

/** Tests that every history must pass. @param open creates an empty history */
export function describeHistory(
  name: string,
  open: (options: Omit<HistoryOptions, 'folder'>) => Promise<History>,
  { maxCount }: HistoryTraits,
): void {
  describe(`history ${name}`, () => {
    const opened: History[] = []
    afterEach(async () => {
      for (const history of opened.splice(0)) await history.close()
    })
    async function start(options: Partial<HistoryOptions> = {}) {
      const history = await open({ ...wide, ...options })
      opened.push(history)
      const add = async (...puts: [topic: string, value: string, at?: number][]) => {
        let { seq } = history
        const events = puts.map(([topic, value, at = Date.now()]): Event => ({ seq: ++seq, at, topic, value }))
        await history.append(events)
        return events
      }
      return { history, add }
    }

    it('is empty and complete at first', async () => {
      const { history } = await start()
      expect(history.getCurrent('a')).toBeUndefined()
      expect(history.readSince(createSelectors(['a', 'b']), history.seq)).toMatchObject({ events: [], complete: true })
      expect(history.epoch).toMatch(/^[a-z0-9]{1,16}$/)
    })

    it('returns later events of the requested topics, in one order', async () => {
      const { history, add } = await start()
      const events = await add(['a', '1'], ['b', '2'], ['c', '3'])
      expect(history.readSince(createSelectors(['b', 'a', 'none']), events[0]!.seq - 1)).toMatchObject({
        events: events.slice(0, 2),
        complete: true,
      })
      expect(history.readSince(createSelectors(['a', 'b']), events[0]!.seq)).toMatchObject({
        events: [events[1]],
        complete: true,
      })
      expect(history.seq).toBe(events[2]!.seq)
    })

    it('finds an event by the id of its publisher as long as it is stored: the oldest of several', async () => {
      const { history } = await start({ count: 2 })
      const add = async (topic: string, id: string, alternates?: string[]) => {
        const event: Event = {
          seq: history.seq + 1,
          at: Date.now(),
          topic,
          value: id,
          more: { id, ...(alternates && { alternates }) },
        }
        await history.append([event])
        return event.seq
      }
      const first = await add('a', 'x', ['b'])
      expect(history.findById('x')).toBe(first)
      expect(history.findById('y')).toBeUndefined()
      const second = await add('c', 'x')
      expect(history.findById('x')).toBe(first)
      for (let i = 0; i < 2; i++) await add('a', `${i}`)
      expect(history.findById('x')).toBe(first)
      for (let i = 0; i < 2; i++) await add('b', `${i}`)
      expect(history.findById('x')).toBe(second)
      for (let i = 0; i < 2; i++) await add('c', `${i}`)
      expect(history.findById('x')).toBeUndefined()
    })

    it('stores the current value at any age and size, also if sequences are skipped', async () => {
      const { history, add } = await start({ age: 1, bytes: 1 })
      const [event] = await add(['a', 'x'.repeat(1_000), Date.now() - 10_000])
      await history.append([], history.seq + 10)
      expect(history.getCurrent('a')).toEqual(event)
      const [newer] = await add(['a', 'newer'])
      expect(history.getCurrent('a')).toEqual(newer)
    })

    it.each([
      ['count', { count: 3 }, Math.min(3, maxCount)],
      ['bytes', { bytes: 3 * (EVENT_COST_BYTES + 2) }, Math.min(3, maxCount)],
    ])('limits the %s of a topic, and reports the loss', async (_what, options, remaining) => {
      const { history, add } = await start(options)
      const events: Event[] = []
      for (let i = 0; i < 10; i++) events.push(...(await add(['a', `${i}é`.slice(0, 1) + 'x'])))
      const firstRemaining = events.at(-remaining)!
      expect(history.readSince(createSelectors(['a']), firstRemaining.seq - 1)).toMatchObject({
        events: events.slice(-remaining),
        complete: true,
      })
      expect(history.readSince(createSelectors(['a']), firstRemaining.seq - 2)).toMatchObject({
        events: events.slice(-remaining),
        complete: false,
      })
    })

    it('removes events beyond the maximum age, and reports the loss', async () => {
      const { history, add } = await start({ age: 1_000 })
      const [old, young] = await add(['a', 'old', Date.now() - 5_000], ['a', 'young'])
      expect(history.readSince(createSelectors(['a']), old!.seq - 1)).toMatchObject({
        events: [young],
        complete: false,
      })
      expect(history.readSince(createSelectors(['a']), old!.seq)).toMatchObject({ events: [young], complete: true })
    })

    it.each([
      ['topics', { topics: 2 }],
      ['bytes', { total: 2 * (TOPIC_COST_BYTES + EVENT_COST_BYTES) + 50 }],
    ])('removes a topic if there are too many %s, and reports the loss', async (_what, options) => {
      const { history, add } = await start(options)
      const events = await add(['a', '1'], ['b', '12'], ['b', '34'], ['a', '1'], ['c', '1234'])
      expect(history.getCurrent('b')).toBeUndefined()
      expect(history.getCurrent('a')).toEqual(events[3])
      expect(history.readSince(createSelectors(['b']), events[2]!.seq)).toMatchObject({ events: [], complete: true })
      expect(history.readSince(createSelectors(['b']), events[1]!.seq)).toMatchObject({ events: [], complete: false })
    })

    it.each([
      ['values', { total: 100_000 }, 20],
      ['topics', { topics: 100 }, 1_000],
    ])(
      'stores the current values of quiet topics while another client puts many %s',
      async (_what, options, topics) => {
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
        expect(quiet.map(({ topic }) => history.getCurrent(topic))).toEqual(quiet)
      },
    )

    it('removes older values of several topics for a large one, but no topic', async () => {
      const { history, add } = await start({ total: 20_000 })
      const topics = Array.from({ length: 10 }, (_, i) => `t${i}`)
      for (let i = 0; i < 9; i++) await add(...topics.map((topic) => [topic, `${i}`] as [string, string]))
      await add(['large', 'x'.repeat(10_000)])
      expect(topics.map((topic) => history.getCurrent(topic)?.value)).toEqual(Array(10).fill('8'))
    })

    it('replaces established topics without a put for a day with new topics', async () => {
      const { history, add } = await start({ topics: 4 })
      const day = 86_400_000
      await add(
        ...['a', 'b', 'c', 'd'].map((topic) => [topic, 'old', Date.now() - 2 * day] as [string, string, number]),
      )
      for (const topic of ['e', 'f', 'g', 'h']) await add([topic, 'new'])
      expect(['e', 'f', 'g', 'h'].map((topic) => history.getCurrent(topic)?.value)).toEqual(Array(4).fill('new'))
    })

    it('stores an update under each of its topics, and returns it once', async () => {
      const { history } = await start()
      const { seq } = history
      const both = { seq: seq + 1, at: Date.now(), topic: 'a', value: 'both', more: { alternates: ['b'] } }
      const other = { seq: seq + 2, at: Date.now(), topic: 'c', value: 'other' }
      await history.append([both, other])
      expect(history.readSince(createSelectors(['a', 'b']), seq)).toMatchObject({ events: [both], complete: true })
      expect(history.readSince(createSelectors(['b']), seq)).toMatchObject({ events: [both], complete: true })
      expect(history.readSince(createSelectors(['b', 'c'], ['']), seq)).toMatchObject({ events: [both, other] })
      expect(history.getCurrent('b')).toEqual(both)
      expect(history.getNames(createSelectors([], ['']))).toEqual(expect.arrayContaining(['a', 'b', 'c']))
    })

    it('omits only events that the reader may not read', async () => {
      const { history, add } = await start()
      const [open] = await add(['a', 'open'])
      const hidden = { seq: open!.seq + 1, at: Date.now(), topic: 'b', value: 'x', more: { isPrivate: true as const } }
      await history.append([hidden])
      const missed = history.readSince(createSelectors([], ['']), open!.seq - 1, 1_000, PUBLIC_SCOPE)
      expect(missed).toMatchObject({ events: [open], complete: true })
      expect(history.readSince(createSelectors([], ['']), open!.seq - 1).events).toEqual([open, hidden])
    })

    it('never reports an incomplete result as complete, with any puts', async () => {
      const some = fc.constantFrom('a', 'b', 'c', 'd')
      const put = fc.tuple(some, fc.string({ maxLength: 4 }), fc.option(some))
      await fc.assert(
        fc.asyncProperty(
          fc.array(put, { maxLength: 40 }),
          fc.nat(40),
          fc.oneof(
            fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }).map((topics) => createSelectors(topics)),
            fc.subarray(['', 'a', 'b']).map((prefixes) => createSelectors(['c'], prefixes)),
          ),
          async (puts, from, selectors) => {
            const { history } = await start({
              count: 4,
              bytes: 3 * EVENT_COST_BYTES,
              topics: 3,
              total: 3 * TOPIC_COST_BYTES + 6 * EVENT_COST_BYTES,
            })
            const first = history.seq
            const all: Event[] = []
            for (const [topic, value, other] of puts) {
              const more = other && other !== topic ? { more: { alternates: [other] } } : {}
              const event = { seq: history.seq + 1, at: Date.now(), topic, value, ...more }
              await history.append([event])
              all.push(event)
            }
            const { events, complete } = history.readSince(selectors, first + from)
            const isRequested = (event: Event) => getTopics(event).some((topic) => isSelected(selectors, topic))
            const expected = all.filter((event) => isRequested(event) && event.seq > first + from)
            if (complete) expect(events).toEqual(expected)
            else {
              expect(expected).toEqual(expect.arrayContaining([...events]))
              expect(events).toEqual(events.toSorted((one, other) => one.seq - other.seq))
            }
          },
        ),
        { numRuns: scaleRuns(20) },
      )
    })

    it('can be closed twice', async () => {
      const { history } = await start()
      await history.close()
      await expect(history.close()).resolves.toBeUndefined()
    })
  })
}

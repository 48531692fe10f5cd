import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LEASE, type FrameEntry } from '../src/order/frame.ts'
import type { PlacedFrame } from '../src/order/joiner.ts'
import { beginning, encodeLease, FORGET_AFTER, Order } from '../src/order/order.ts'

let seq = 0
const frame = (writer: string, number: number, at = 0, entries: FrameEntry[] = []): PlacedFrame => ({
  seq: ++seq,
  at,
  check: 0,
  writer,
  number,
  entries,
})
const work = (term = 0): FrameEntry => ({ kind: 1, term, body: Buffer.alloc(0) })
const lease = (holder: string, ttl: number): FrameEntry => ({
  kind: LEASE,
  term: 0,
  body: encodeLease({ holder, ttl }),
})

describe('the order', () => {
  it('counts each frame of a writer once, in the order of its numbers, whatever comes how often', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 6 })), { maxLength: 60 }),
        (sent) => {
          const order = new Order(beginning('e'))
          const counted: Record<string, number[]> = { a: [], b: [] }
          for (const [writer, number] of sent) if (order.take(frame(writer, number))) counted[writer]!.push(number)
          for (const numbers of Object.values(counted)) expect(numbers).toEqual(numbers.map((_, i) => i + 1))
        },
      ),
    )
  })

  it('judges alike from any position on', () => {
    const step = fc.tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: FORGET_AFTER }),
      fc.constantFrom(work(), work(1), work(2), lease('a', 1_000), lease('b', FORGET_AFTER), lease('a', 0)),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(), (steps, cut) => {
        const frames = steps.map(([writer, number, at, entry]) => frame(writer, number, at, [entry]))
        const one = new Order(beginning('e'))
        const all = frames.map((given) => one.take(given))
        const before = new Order(beginning('e'))
        const at = cut % (frames.length + 1)
        for (const given of frames.slice(0, at)) before.take(given)
        // As a view keeps it.
        const after = new Order(JSON.parse(JSON.stringify(before.position())))
        expect(frames.slice(at).map((given) => after.take(given))).toEqual(all.slice(at))
        expect(after.position()).toEqual(one.position())
      }),
    )
  })

  it('forgets who was silent for long', () => {
    const order = new Order(beginning('e'))
    order.take(frame('a', 1, 1_000))
    order.take(frame('b', 1, 2_000))
    order.take(frame('c', 1, 1_000 + FORGET_AFTER))
    expect(order.position().writers.map(([id]) => id)).toEqual(['b', 'c'])
    expect(order.take(frame('a', 2, 1_000 + FORGET_AFTER))).toBeUndefined()
  })

  it('has a time that does not go back', () => {
    const order = new Order(beginning('e'))
    const times = [5, 3, 9].map((at, i) => {
      const [verdict] = order.take(frame('a', i + 1, at, [work()]))!
      return verdict!.kind === 'applied' && verdict!.entry.at
    })
    expect(times).toEqual([5, 5, 9])
  })
})

describe('the lease', () => {
  const verdicts = (order: Order, number: number, at: number, ...entries: FrameEntry[]) =>
    order.take(frame('w', number, at, entries))!

  it("has one holder at a time, whose time is the log's, and each has a term of its own", () => {
    const order = new Order(beginning('e'))
    verdicts(order, 1, 0, lease('a', 100), lease('b', 100))
    expect(order.lease).toEqual({ term: 1, holder: 'a', until: 100 })
    verdicts(order, 2, 50, lease('a', 100))
    expect(order.lease).toEqual({ term: 1, holder: 'a', until: 150 })
    verdicts(order, 3, 149, lease('b', 100))
    expect(order.lease!.holder).toBe('a')
    verdicts(order, 4, 150, lease('b', 100))
    expect(order.lease).toEqual({ term: 2, holder: 'b', until: 250 })
    verdicts(order, 5, 251, lease('b', 100))
    expect(order.lease!.term).toBe(3)
    verdicts(order, 6, 252, lease('b', 0), lease('a', 100))
    expect(order.lease).toEqual({ term: 4, holder: 'a', until: 352 })
  })

  it('fences what was sent in another term', () => {
    const order = new Order(beginning('e'))
    const kinds = verdicts(order, 1, 0, work(1), lease('a', 100), work(1), work(2), work())
    expect(kinds.map(({ kind }) => kind)).toEqual(['fenced', 'lease', 'applied', 'fenced', 'applied'])
    // Nobody has taken over yet, though the time is over.
    expect(verdicts(order, 2, 100, work(1))).toMatchObject([{ kind: 'applied' }])
    const later = verdicts(order, 3, 100, lease('b', 100), work(1), work(2))
    expect(later.map(({ kind }) => kind)).toEqual(['lease', 'fenced', 'applied'])
  })
})

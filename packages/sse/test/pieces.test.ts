import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Pieces } from '../src/core/pieces.ts'

test('whoever waits for the same shares it; the rest is kept apart', () => {
  const events = Array.from({ length: 6 }, (_, i) => Buffer.from(`event ${i};`))
  // Of each event, which of four groups want it.
  const wanted = fc.array(fc.tuple(fc.nat(events.length - 1), fc.uniqueArray(fc.nat(3))), { maxLength: 30 })
  fc.assert(
    fc.property(wanted, (sent) => {
      const nothing = Pieces.nothing()
      const groups = Array.from({ length: 4 }, () => ({ pending: nothing, expected: '', count: 0 }))
      for (const [event, whose] of sent) {
        for (const group of whose.map((i) => groups[i]!)) {
          group.pending = group.pending.with(events[event]!)
          group.expected += events[event]!.toString()
          group.count++
        }
      }
      for (const { pending, expected, count } of groups) {
        expect(pending.whole.toString()).toBe(expected)
        expect([pending.isEmpty, pending.isSingle]).toEqual([count === 0, count === 1])
      }
      const [first, ...others] = groups
      const alike = others.filter(({ pending }) => sent.every(([, whose]) => whose.length === 4) && !pending.isEmpty)
      for (const { pending } of alike) expect(pending).toBe(first!.pending)
    }),
  )
})

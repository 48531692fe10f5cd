import fc from 'fast-check'
import type { Condition, Operation } from './linearizable.ts'

/** Histories of one register, right ones and wrong ones. @param most operations in one */
export function anyHistory(most: number): fc.Arbitrary<Operation[]> {
  const value = fc.constantFrom('a', 'b', undefined)
  const condition = fc.option(
    fc.oneof(
      fc.constantFrom<Condition>({ noneMatch: '*' }, { match: '*' }),
      fc.constantFrom('a', 'b').map((match) => ({ match })),
    ),
    { nil: undefined },
  )
  const times = fc
    .tuple(fc.integer({ min: 0, max: 2 * most }), fc.integer({ min: 0, max: most }))
    .map(([calledAt, length]) => ({ calledAt, returnedAt: calledAt + length }))
  const outcome = fc.constantFrom<('done' | 'refused' | 'unknown')[]>('done', 'done', 'done', 'refused', 'unknown')
  const operation = fc.oneof(
    fc.tuple(times, value).map(([at, found]): Operation => ({ type: 'read', ...at, found })),
    fc.tuple(times, value, condition, outcome).map(([at, written, asked, came]): Operation => ({
      type: 'write',
      ...at,
      value: written,
      outcome: came,
      ...(asked && { condition: asked }),
    })),
  )
  return fc.array(operation, { maxLength: most })
}

import fc from 'fast-check'
import type { RegisterCondition, RegisterOperation } from './linearizable.ts'

/** Histories of one register, linearizable or not. @param maxOperations maximum operations of a history */
export function createHistoryArbitrary(maxOperations: number): fc.Arbitrary<RegisterOperation[]> {
  const value = fc.constantFrom('a', 'b', undefined)
  const condition = fc.option(
    fc.oneof(
      fc.constantFrom<RegisterCondition>({ noneMatch: '*' }, { match: '*' }),
      fc.constantFrom('a', 'b').map((match) => ({ match })),
    ),
    { nil: undefined },
  )
  const times = fc
    .tuple(fc.integer({ min: 0, max: 2 * maxOperations }), fc.integer({ min: 0, max: maxOperations }))
    .map(([calledAt, length]) => ({ calledAt, returnedAt: calledAt + length }))
  const outcome = fc.constantFrom<('done' | 'refused' | 'unknown')[]>('done', 'done', 'done', 'refused', 'unknown')
  const operation = fc.oneof(
    fc.tuple(times, value).map(([at, found]): RegisterOperation => ({ type: 'read', ...at, found })),
    fc.tuple(times, value, condition, outcome).map(([at, written, calls, returns]): RegisterOperation => ({
      type: 'write',
      ...at,
      value: written,
      outcome: returns,
      ...(calls && { condition: calls }),
    })),
  )
  return fc.array(operation, { maxLength: maxOperations })
}

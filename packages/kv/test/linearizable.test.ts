import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHistoryArbitrary } from './support/histories.ts'
import {
  isLinearizable,
  type RegisterCondition,
  type RegisterOperation,
  type RegisterValue,
} from './support/linearizable.ts'

const read = (calledAt: number, returnedAt: number, found: RegisterValue): RegisterOperation => ({
  type: 'read',
  calledAt,
  returnedAt,
  found,
})
const write = (
  calledAt: number,
  returnedAt: number,
  value: RegisterValue,
  condition?: RegisterCondition,
): RegisterOperation => ({
  type: 'write',
  calledAt,
  returnedAt,
  value,
  outcome: 'done',
  ...(condition && { condition }),
})
const refused = (calledAt: number, returnedAt: number, condition: RegisterCondition): RegisterOperation => ({
  type: 'write',
  calledAt,
  returnedAt,
  value: 'refused',
  condition,
  outcome: 'refused',
})
const unknown = (calledAt: number, value: RegisterValue, condition?: RegisterCondition): RegisterOperation => ({
  type: 'write',
  calledAt,
  returnedAt: calledAt + 1,
  value,
  outcome: 'unknown',
  ...(condition && { condition }),
})
const absent: RegisterCondition = { noneMatch: '*' }
const present: RegisterCondition = { match: '*' }

describe('a linearizable history', () => {
  it.each<[string, RegisterOperation[]]>([
    ['of nothing', []],
    [
      'one after the other',
      [read(0, 1, undefined), write(2, 3, 'a'), read(4, 5, 'a'), write(6, 7, undefined), read(8, 9, undefined)],
    ],
    ['a read beside a write finds the old', [write(0, 1, 'a'), write(2, 9, 'b'), read(3, 4, 'a'), read(5, 6, 'b')]],
    [
      'writes that overlap, seen in the order of neither call nor return',
      [write(0, 9, 'a'), write(1, 8, 'b'), read(10, 11, 'a')],
    ],
    ['one of two makes it', [write(0, 5, 'a', absent), refused(1, 4, absent), read(6, 7, 'a')]],
    [
      'made, deleted between and made again',
      [write(0, 1, 'a', absent), write(2, 9, undefined), write(3, 8, 'b', absent)],
    ],
    ['a swap that comes too late', [write(0, 1, 'a'), write(2, 3, 'b', { match: 'a' }), refused(4, 5, { match: 'a' })]],
    ['a write without an answer that never happened', [write(0, 1, 'a'), unknown(2, 'b'), read(8, 9, 'a')]],
    [
      'a write without an answer that happened late',
      [write(0, 1, 'a'), unknown(2, 'b'), read(8, 9, 'a'), read(10, 11, 'b')],
    ],
    ['a swap without an answer that was refused', [write(0, 1, 'a'), unknown(2, 'c', { match: 'b' }), read(8, 9, 'a')]],
  ])('%s', (_, history) => {
    expect(isLinearizable(history)).toBe(true)
  })
})

describe('a history that is not linearizable', () => {
  it.each<[string, RegisterOperation[]]>([
    ['a value that was never written', [read(0, 1, 'a')]],
    ['a stale read', [write(0, 1, 'a'), write(2, 3, 'b'), read(4, 5, 'a')]],
    ['a lost write', [write(0, 1, 'a'), read(2, 3, undefined)]],
    ['a value that is seen before its write', [read(0, 1, 'a'), write(2, 3, 'a')]],
    ['two reads beside a write that go back', [write(0, 1, 'a'), write(2, 9, 'b'), read(3, 4, 'b'), read(5, 6, 'a')]],
    ['two orders for two readers', [write(0, 9, 'a'), write(0, 9, 'b'), read(10, 11, 'a'), read(12, 13, 'b')]],
    ['two that both made it', [write(0, 5, 'a', absent), write(1, 4, 'b', absent)]],
    ['two swaps of one value', [write(0, 1, 'a'), write(2, 9, 'b', { match: 'a' }), write(3, 8, 'c', { match: 'a' })]],
    ['refused though there was none', [refused(0, 1, absent)]],
    ['refused though it was this value', [write(0, 1, 'a'), refused(2, 3, { match: 'a' })]],
    ['refused though there was one', [write(0, 1, 'a'), refused(2, 3, present)]],
    ['a delete that is undone', [write(0, 1, 'a'), write(2, 3, undefined, present), read(4, 5, 'a')]],
    ['a write without an answer that comes before its call', [read(0, 1, 'b'), unknown(2, 'b')]],
    [
      'a write without an answer that happens twice',
      [unknown(0, 'b'), read(2, 3, 'b'), write(4, 5, 'a'), read(6, 7, 'b')],
    ],
  ])('%s', (_, history) => {
    expect(isLinearizable(history)).toBe(false)
  })
})

/** The definition itself: some order explains the operations. Unanswered ones may be left out. */
function isLinearizableByDefinition(rest: readonly RegisterOperation[], value: RegisterValue = undefined): boolean {
  const isOver = (one: RegisterOperation) => one.type === 'write' && one.outcome === 'unknown'
  if (rest.every(isOver)) return true
  return rest.some((one) => {
    if (rest.some((other) => other !== one && !isOver(other) && other.returnedAt < one.calledAt)) return false
    const others = rest.filter((other) => other !== one)
    if (one.type === 'read') return one.found === value && isLinearizableByDefinition(others, value)
    const { condition } = one
    let isMet = true
    if (condition) {
      if ('noneMatch' in condition) isMet = value === undefined
      else isMet = value !== undefined && (condition.match === '*' || condition.match === value)
    }
    if (one.outcome === 'done' && !isMet) return false
    if (one.outcome === 'refused' && isMet) return false
    return isLinearizableByDefinition(others, isMet ? one.value : value)
  })
}

it('agrees with a search through every order', () => {
  let linearizable = 0
  fc.assert(
    fc.property(createHistoryArbitrary(6), (history) => {
      const expected = isLinearizableByDefinition(history)
      if (expected) linearizable++
      expect(isLinearizable(history)).toBe(expected)
    }),
    { numRuns: 3_000 },
  )
  // Both results occurred.
  expect(linearizable).toBeGreaterThan(300)
  expect(linearizable).toBeLessThan(2_700)
})

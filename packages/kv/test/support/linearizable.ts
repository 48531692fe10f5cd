/** Value of a register; `undefined` if it was deleted or never written. */
export type RegisterValue = string | undefined

/** Condition of a write. `*` is any value. */
export type RegisterCondition = { readonly match: string } | { readonly noneMatch: '*' }

/** An operation of a client on one register, and its result. All times come from one clock, in any unit. */
export type RegisterOperation = { readonly calledAt: number; readonly returnedAt: number } & (
  | { readonly type: 'read'; readonly found: RegisterValue }
  | {
      /** A put, or a delete if `value` is undefined. Without a reply, it takes effect at any later time or never. */
      readonly type: 'write'
      readonly value: RegisterValue
      readonly condition?: RegisterCondition
      readonly outcome: 'done' | 'refused' | 'unknown'
    }
)

/** Returns the value after an operation on `value`; `undefined` if the operation is impossible. */
function applyOperation(
  operation: RegisterOperation,
  value: RegisterValue,
): { readonly value: RegisterValue } | undefined {
  if (operation.type === 'read') return operation.found === value ? { value } : undefined
  const { condition, outcome } = operation
  const isMet = condition === undefined || isConditionMet(condition, value)
  if (outcome === 'unknown') return { value: isMet ? operation.value : value }
  if (isMet !== (outcome === 'done')) return undefined
  return { value: isMet ? operation.value : value }
}

function isConditionMet(condition: RegisterCondition, value: RegisterValue): boolean {
  if ('noneMatch' in condition) return value === undefined
  return condition.match === '*' ? value !== undefined : condition.match === value
}

const isUnknown = (operation: RegisterOperation) => operation.type === 'write' && operation.outcome === 'unknown'
const getEnd = (operation: RegisterOperation) => (isUnknown(operation) ? Infinity : operation.returnedAt)

/**
 * True if some order explains a history of one register: each operation takes effect at one moment between its call and
 * its return, and sees the result of those before it. The search of Wing and Gong, with the addition of Lowe: a pair of
 * operation set and value that failed once is not searched again.
 */
export function isLinearizable(history: readonly RegisterOperation[], initial: RegisterValue = undefined): boolean {
  const operations = history.toSorted((a, b) => a.calledAt - b.calledAt)
  const required = operations.reduce((set, operation, i) => (isUnknown(operation) ? set : set | (1n << BigInt(i))), 0n)
  const deadEnds = new Set<string>()

  function search(done: bigint, value: RegisterValue): boolean {
    if ((done & required) === required) return true
    const state = `${done} ${JSON.stringify(value)}`
    if (deadEnds.has(state)) return false
    deadEnds.add(state)
    // An operation that was called after the return of another cannot come before it.
    let firstEnd = Infinity
    for (const [i, operation] of operations.entries()) {
      if (operation.calledAt > firstEnd) break
      if ((done & (1n << BigInt(i))) === 0n) firstEnd = Math.min(firstEnd, getEnd(operation))
    }
    for (const [i, operation] of operations.entries()) {
      if (operation.calledAt > firstEnd) break
      if (done & (1n << BigInt(i))) continue
      const next = applyOperation(operation, value)
      if (next && search(done | (1n << BigInt(i)), next.value)) return true
    }
    return false
  }
  return search(0n, initial)
}

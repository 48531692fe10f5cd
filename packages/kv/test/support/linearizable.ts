/** What a register holds; nothing where it was deleted or never written. */
export type Value = string | undefined

/** What a conditional write asks of the register. `*` is any value. */
export type Condition = { readonly match: string } | { readonly noneMatch: '*' }

/** What a client did and saw, on one register. Times are of one clock, in any unit. */
export type Operation = { readonly calledAt: number; readonly returnedAt: number } & (
  | { readonly type: 'read'; readonly found: Value }
  | {
      /** A put, or a delete where `value` is nothing. Without an answer it may have happened at any later time, or not. */
      readonly type: 'write'
      readonly value: Value
      readonly condition?: Condition
      readonly outcome: 'done' | 'refused' | 'unknown'
    }
)

/** What the register holds after an operation that finds `value`; nothing if the operation could not have gone so. */
function step(operation: Operation, value: Value): { readonly value: Value } | undefined {
  if (operation.type === 'read') return operation.found === value ? { value } : undefined
  const { condition, outcome } = operation
  const isMet = condition === undefined || meets(condition, value)
  if (outcome === 'unknown') return { value: isMet ? operation.value : value }
  if (isMet !== (outcome === 'done')) return undefined
  return { value: isMet ? operation.value : value }
}

function meets(condition: Condition, value: Value): boolean {
  if ('noneMatch' in condition) return value === undefined
  return condition.match === '*' ? value !== undefined : condition.match === value
}

const isUnknown = (operation: Operation) => operation.type === 'write' && operation.outcome === 'unknown'
const endOf = (operation: Operation) => (isUnknown(operation) ? Infinity : operation.returnedAt)

/**
 * Whether some order explains a history of one register: each operation takes effect at one moment between its call and
 * its return, and finds what those before it left. The search of Wing and Gong, with what Lowe added: a set of operations
 * and a value that led nowhere once are not tried again.
 */
export function isLinearizable(history: readonly Operation[], initial: Value = undefined): boolean {
  const operations = history.toSorted((a, b) => a.calledAt - b.calledAt)
  const required = operations.reduce((set, operation, i) => (isUnknown(operation) ? set : set | (1n << BigInt(i))), 0n)
  const ledNowhere = new Set<string>()

  function search(done: bigint, value: Value): boolean {
    if ((done & required) === required) return true
    const state = `${done} ${JSON.stringify(value)}`
    if (ledNowhere.has(state)) return false
    ledNowhere.add(state)
    // Whoever was called after another had returned cannot come before it.
    let firstEnd = Infinity
    for (const [i, operation] of operations.entries()) {
      if (operation.calledAt > firstEnd) break
      if ((done & (1n << BigInt(i))) === 0n) firstEnd = Math.min(firstEnd, endOf(operation))
    }
    for (const [i, operation] of operations.entries()) {
      if (operation.calledAt > firstEnd) break
      if (done & (1n << BigInt(i))) continue
      const next = step(operation, value)
      if (next && search(done | (1n << BigInt(i)), next.value)) return true
    }
    return false
  }
  return search(0n, initial)
}

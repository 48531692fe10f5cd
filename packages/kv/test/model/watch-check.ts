import { Difference } from './difference.ts'
import { showKey, showValue } from './operations.ts'
import type { VisibleChange } from './outcome.ts'
import type { ExpiryInterval } from './key-space.ts'
import type { WatchedChange } from './watch-events.ts'

export interface ExpectedChanges {
  /** Changes that the stream must show, in this order. */
  readonly changes: readonly VisibleChange[]
  /** Changes of unanswered requests. */
  readonly unanswered: readonly VisibleChange[]
  /** True if the process was killed: the last changes may be missing. */
  readonly isCut: boolean
  /** Expiries of the values from before the start of the stream, by key; undefined for values that never expire. */
  readonly before: ReadonlyMap<string, ExpiryInterval | undefined>
}

const show = ({ op, key, value }: VisibleChange | WatchedChange) =>
  `${op} ${showKey(key)}${value ? ` ${showValue(value)}` : ''}`

function isSame(expected: VisibleChange, { op, key, value, expiresAt }: WatchedChange): boolean {
  if (expected.op !== op || expected.key !== key) return false
  if (op === 'delete') return true
  if (op === 'put' && !expected.value!.equals(value!)) return false
  const { expiry } = expected
  if (!expiry || expiresAt === undefined) return !expiry && expiresAt === undefined
  return expiresAt >= expiry.earliest && expiresAt <= expiry.latest
}

/**
 * Compares the changes that a stream showed for one client's keys with the changes of the client. The stream shows each
 * change once and in order, and the changes of one request together. It also shows the deletion of each value that expires,
 * not before its time. It may show the deletion of a key without a value.
 * @throws Difference
 */
export function checkChanges(watched: readonly WatchedChange[], expected: ExpectedChanges): void {
  const { changes, isCut } = expected
  const unanswered = [...expected.unanswered]
  /** Keys that have a value according to the stream, with their expiries. */
  const present = new Map(expected.before)
  const sequences = new Map<object, number>()
  let next = 0
  for (const one of watched) {
    let at = next
    while (changes[at]?.isOptional && !isSame(changes[at]!, one)) at++
    const change = changes[at]
    if (change && isSame(change, one)) {
      next = at + 1
      const sequence = sequences.get(change.request) ?? one.sequence
      if (sequence !== one.sequence && !change.isOptional)
        throw new Difference(`${show(one)}: not with the other changes of its request`, { keys: [one.key] })
      // An apparent optional deletion may be that of an expired value.
      if (!change.isOptional) sequences.set(change.request, sequence)
    } else if (one.op !== 'delete' || !isRedundant(one, present)) {
      const index = unanswered.findIndex((other) => isSame(other, one))
      if (index < 0) {
        const keys = change ? [one.key, change.key] : [one.key]
        throw new Difference(`the stream shows ${show(one)} in place of ${change ? show(change) : 'nothing'}`, { keys })
      }
      unanswered.splice(index, 1)
    }
    if (one.op === 'delete') present.delete(one.key)
    else
      present.set(one.key, one.expiresAt === undefined ? undefined : { earliest: one.expiresAt, latest: one.expiresAt })
  }
  const missing = changes.slice(next).filter(({ isOptional }) => !isOptional)
  if (!isCut && missing.length > 0)
    throw new Difference(`the stream does not show ${show(missing[0]!)}, ${missing.length} changes in all`, {
      keys: [missing[0]!.key],
    })
}

/** True if a deletion removes no value, or an expired one. */
function isRedundant(
  { key, receivedAt }: WatchedChange,
  present: ReadonlyMap<string, ExpiryInterval | undefined>,
): boolean {
  if (!present.has(key)) return true
  const expiry = present.get(key)
  return expiry !== undefined && expiry.earliest <= receivedAt
}

/** Returns the keys whose values have expired by `time`, but whose deletion the stream has not shown yet. */
export function findOverdueKeys(
  watched: readonly WatchedChange[],
  before: ReadonlyMap<string, ExpiryInterval | undefined>,
  time: number,
): string[] {
  const present = new Map<string, number | undefined>()
  for (const [key, expiry] of before) present.set(key, expiry?.latest)
  for (const { op, key, expiresAt } of watched) {
    if (op === 'delete') present.delete(key)
    else present.set(key, expiresAt)
  }
  return [...present].filter(([, expiresAt]) => expiresAt !== undefined && expiresAt <= time).map(([key]) => key)
}

import { Difference } from './difference.ts'
import { showKey } from './operations.ts'
import type { SharedWrite } from './shared-keys.ts'
import type { WatchedChange } from './watch-events.ts'

/**
 * Compares the changes that a stream showed for shared keys with the writes. The stream shows each acknowledged value once,
 * in an order that the times allow.
 * @param writes by value, which no two writes share
 * @param isCut true if the process was killed: the last changes may be missing
 * @throws Difference
 */
export function compareSharedChanges(
  watched: readonly WatchedChange[],
  writes: ReadonlyMap<string, SharedWrite>,
  isCut: boolean,
): void {
  const shown = new Map<string, Set<string>>()
  let lastCalledAt = -Infinity
  for (const { op, key, value } of watched) {
    if (op === 'delete') continue
    const text = String(value)
    const name = `${showKey(key)} = ${text}`
    const write = writes.get(text)
    if (!write || write.outcome === 'refused') throw new Difference(`the stream shows ${name}, which was not written`)
    const keys = shown.get(text) ?? new Set()
    if (keys.has(key)) throw new Difference(`the stream shows ${name} twice`)
    shown.set(text, keys.add(key))
    if (write.returnedAt < lastCalledAt) throw new Difference(`the stream shows ${name} after a later write`)
    lastCalledAt = Math.max(lastCalledAt, write.calledAt)
  }
  for (const [text, { outcome }] of writes)
    if (outcome === 'done' && !isCut && !shown.has(text))
      throw new Difference(`the stream does not show ${text}, which was acknowledged`)
}

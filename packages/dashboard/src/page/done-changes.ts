import { describeError } from './api.ts'
import { Listeners, useListened } from './listeners.ts'
import { UNDO_MS } from './pending-removals.ts'

/** A change that was made, and that the page offers to undo for a while. */
export interface DoneChange {
  readonly key: number
  /** A sentence for the user. */
  readonly summary: string
  /** The reason why the change could not be undone. */
  readonly fault?: string
  /** Absent if there is nothing to undo. */
  readonly undo?: (() => Promise<unknown>) | undefined
}

const done = new Map<number, DoneChange>()
const changes = new Listeners()
/** Called after a change was undone. */
export const undone = new Listeners()
let lastKey = 0

/** Shows a sentence on a change, with Undo for `UNDO_MS`. */
export function reportDone(summary: string, undo?: DoneChange['undo']): void {
  const key = ++lastKey
  done.set(key, { key, summary, undo })
  setTimeout(() => dismissDone(key), UNDO_MS)
  changes.notify()
}

export function dismissDone(key: number): void {
  done.delete(key)
  changes.notify()
}

/** Undoes a change. If that fails, its reason remains until the user dismisses it. */
export async function undoDone({ key, summary, undo }: DoneChange): Promise<void> {
  done.delete(key)
  changes.notify()
  try {
    await undo?.()
    undone.notify()
  } catch (error) {
    done.set(++lastKey, { key: lastKey, summary, fault: describeError(error) })
    changes.notify()
  }
}

export const useDoneChanges = (): readonly DoneChange[] => useListened(changes, () => [...done.values()])

import { describeError } from './api.ts'
import { Listeners, useListened } from './listeners.ts'

/** The time for Undo (ms). */
export const UNDO_MS = 15_000

/** The removal of a video or a post, which begins only when the time for Undo is over: stats cannot restore its history. */
export interface Removal {
  /** Identifies the removal on this page. */
  readonly key: string
  /** Name of the video or the post. */
  readonly name: string
  /** Sends the request, which must complete even if the user leaves the page. */
  run(): Promise<unknown>
}

export interface PendingRemoval extends Removal {
  /** The reason why the removal failed. */
  readonly fault?: string
}

const pending = new Map<string, PendingRemoval>()
const timers = new Map<string, ReturnType<typeof setTimeout>>()
const changes = new Listeners()
/** Called with the key of each completed removal. */
export const completed = new Listeners<[key: string]>()

/** Starts the time for Undo. */
export function removeLater(removal: Removal): void {
  cancelRemoval(removal.key)
  pending.set(removal.key, removal)
  const timer = setTimeout(() => void removeNow(removal.key), UNDO_MS)
  timers.set(removal.key, timer)
  changes.notify()
}

function cancelRemoval(key: string): void {
  clearTimeout(timers.get(key))
  timers.delete(key)
  pending.delete(key)
}

/** Cancels a removal, or dismisses one that failed. */
export function undo(key: string): void {
  cancelRemoval(key)
  changes.notify()
}

/** Ends the time for Undo, and removes the video. */
export async function removeNow(key: string): Promise<void> {
  const removal = pending.get(key)
  if (!removal || !timers.has(key)) return
  clearTimeout(timers.get(key))
  timers.delete(key)
  try {
    await removal.run()
    cancelRemoval(key)
    completed.notify(key)
  } catch (error) {
    pending.set(key, { ...removal, fault: describeError(error) })
  }
  changes.notify()
}

// A page cannot offer Undo after the user leaves it, so pending removals begin at once.
addEventListener('pagehide', () => {
  for (const key of timers.keys()) void removeNow(key)
})

/** All removals that are neither complete nor undone, by key. */
export const usePendingRemovals = (): ReadonlyMap<string, PendingRemoval> =>
  useListened(changes, () => new Map(pending))

export const toPostKey = (campaign: string, post: string) => `post ${post} of ${campaign}`
export const toVideoKey = (campaign: string, video: string) => `video ${video} of ${campaign}`

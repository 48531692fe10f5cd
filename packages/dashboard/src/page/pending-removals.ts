import { useEffect, useState } from 'preact/hooks'
import { describeError } from './api.ts'

/** The time for Undo (ms). */
export const UNDO_MS = 15_000

/** A removal that begins only when the time for Undo is over, because stats cannot restore history. */
export interface Removal {
  /** Identifies the removal on this page. */
  readonly key: string
  /** Name of the thing to remove. */
  readonly name: string
  readonly kind: 'video' | 'campaign'
  /** Sends the request, which must complete even if the user leaves the page. */
  run(): Promise<unknown>
}

export interface PendingRemoval extends Removal {
  /** The reason why the removal failed. */
  readonly fault?: string
}

const pending = new Map<string, PendingRemoval>()
const timers = new Map<string, ReturnType<typeof setTimeout>>()
const listeners = new Set<() => void>()
const doneListeners = new Set<(key: string) => void>()

function publish(): void {
  for (const listener of listeners) listener()
}

/** Starts the time for Undo. */
export function removeLater(removal: Removal): void {
  cancelRemoval(removal.key)
  pending.set(removal.key, removal)
  timers.set(
    removal.key,
    setTimeout(() => void removeNow(removal.key), UNDO_MS),
  )
  publish()
}

function cancelRemoval(key: string): void {
  clearTimeout(timers.get(key))
  timers.delete(key)
  pending.delete(key)
}

/** Cancels a removal, or dismisses one that failed. */
export function undo(key: string): void {
  cancelRemoval(key)
  publish()
}

/** Ends the time for Undo, and removes the thing. */
export async function removeNow(key: string): Promise<void> {
  const removal = pending.get(key)
  if (!removal || !timers.has(key)) return
  clearTimeout(timers.get(key))
  timers.delete(key)
  try {
    await removal.run()
    cancelRemoval(key)
    for (const listener of doneListeners) listener(key)
  } catch (error) {
    pending.set(key, { ...removal, fault: describeError(error) })
  }
  publish()
}

// A page cannot offer Undo after the user leaves it, so pending removals begin at once.
addEventListener('pagehide', () => {
  for (const key of timers.keys()) void removeNow(key)
})

/** Calls a listener with the key of each completed removal. @returns a function that removes the listener */
export function onRemoved(listener: (key: string) => void): () => void {
  doneListeners.add(listener)
  return () => void doneListeners.delete(listener)
}

/** All removals that are neither complete nor undone, by key. */
export function usePendingRemovals(): ReadonlyMap<string, PendingRemoval> {
  const [found, setFound] = useState<ReadonlyMap<string, PendingRemoval>>(() => new Map(pending))
  useEffect(() => {
    const follow = () => setFound(new Map(pending))
    follow()
    listeners.add(follow)
    return () => void listeners.delete(follow)
  }, [])
  return found
}

export const toCampaignKey = (id: string) => `campaign ${id}`
export const toVideoKey = (campaign: string, video: string) => `video ${video} of ${campaign}`

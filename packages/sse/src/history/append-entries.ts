import { isClosing, type Event, type StreamEntry } from '../core/event.ts'
import type { History } from './history.ts'

/** Appends entries to a history, at or before their delivery. */
export function appendEntries(
  history: History,
  entries: readonly StreamEntry[],
  onAppended?: () => void,
): void | Promise<void> {
  const events = entries.filter((entry): entry is Event => !isClosing(entry))
  return history.append(events, entries.at(-1)!.seq, onAppended)
}

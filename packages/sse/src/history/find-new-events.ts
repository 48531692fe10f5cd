import { getTopics, type Event } from '../core/event.ts'
import type { MovedEvent } from '../core/moved-event.ts'
import type { History } from './history.ts'

/**
 * Returns the imported events that are newer than the current values of all their topics. Thus a repeated import adds
 * nothing, and no old value becomes current. Only current values decide: the time at which a node drops other values
 * depends on its clock.
 * @param imported in ascending order of time, with all events of a time that belong together
 * @param seq last assigned sequence number; the result continues from it
 */
export function findNewEvents(history: History, imported: readonly MovedEvent[], seq: number): Event[] {
  const added: Event[] = []
  /** Time of the newest added event of each topic (ms since 1970). */
  const newest = new Map<string, number>()
  const isNew = (topic: string, at: number): boolean => {
    const last = newest.get(topic)
    return last === undefined ? (history.getCurrent(topic)?.at ?? -Infinity) < at : last <= at
  }
  for (const event of imported) {
    const topics = getTopics(event)
    if (!topics.every((topic) => isNew(topic, event.at))) continue
    for (const topic of topics) newest.set(topic, event.at)
    added.push({ seq: seq + added.length + 1, ...event })
  }
  return added
}

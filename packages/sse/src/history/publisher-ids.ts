import type { Event } from '../core/event.ts'
import { addToSet, iterateSet, removeFromSet, type SmallSet } from '../core/small-set.ts'

/** Stored events with an id of their publisher, by this id. */
export class PublisherIds {
  readonly #events = new Map<string, SmallSet<Event>>()

  /** Has no effect on an event that has no such id, or was added before. */
  add(event: Event): void {
    const id = event.more?.id
    if (id !== undefined) this.#events.set(id, addToSet(this.#events.get(id), event))
  }

  delete(event: Event): void {
    const id = event.more?.id
    if (id === undefined) return
    const remaining = removeFromSet(this.#events.get(id), event)
    if (remaining) this.#events.set(id, remaining)
    else this.#events.delete(id)
  }

  /** Returns the sequence number of the oldest event with an id. */
  find(id: string): number | undefined {
    let oldest: number | undefined
    for (const { seq } of iterateSet(this.#events.get(id))) if (oldest === undefined || seq < oldest) oldest = seq
    return oldest
  }
}

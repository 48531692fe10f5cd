import { Chunk } from '@influencer-stats/runtime/chunk'
import type { Event } from './core/event.ts'
import type { Encoder } from './encoder/encoder.ts'

/** Chunks of large values. All streams that get a value share one chunk. */
export class SharedValues {
  readonly #made = new WeakMap<Encoder, WeakMap<Event, WeakRef<Chunk>>>()

  /** @param id of the event */
  of(encoder: Encoder, event: Event, id: string): Chunk {
    let made = this.#made.get(encoder)
    if (!made) this.#made.set(encoder, (made = new WeakMap()))
    const known = made.get(event)?.deref()
    if (known) return known
    const chunk = Chunk.fromText(encoder.value(id, event))
    made.set(event, new WeakRef(chunk))
    return chunk
  }
}

import { Chunk } from '@influencer-stats/runtime/chunk'
import type { Event } from '../core/event.ts'
import type { Encoder } from '../encoder/encoder.ts'

/** Chunks of large values. All replays that send a value with the same encoder share one chunk. */
export class SharedValues {
  readonly #chunks = new WeakMap<Encoder, WeakMap<Event, WeakRef<Chunk>>>()

  /** @param id id of the event */
  getChunk(encoder: Encoder, event: Event, id: string): Chunk {
    let chunks = this.#chunks.get(encoder)
    if (!chunks) this.#chunks.set(encoder, (chunks = new WeakMap()))
    const cached = chunks.get(event)?.deref()
    if (cached) return cached
    const chunk = Chunk.fromText(encoder.framing.frame(encoder.encodeValue(id, event)))
    chunks.set(event, new WeakRef(chunk))
    return chunk
  }
}

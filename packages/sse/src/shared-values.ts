import type { Event } from './core/event.ts'
import type { Encoder } from './encoder/encoder.ts'

/** Large values as streams get them: one Buffer for all that are being sent a value, whoever came when. */
export class SharedValues {
  readonly #made = new WeakMap<Encoder, WeakMap<Event, WeakRef<Buffer>>>()

  /** @param id of the event */
  of(encoder: Encoder, event: Event, id: string): Buffer {
    let made = this.#made.get(encoder)
    if (!made) this.#made.set(encoder, (made = new WeakMap()))
    const known = made.get(event)?.deref()
    if (known) return known
    const bytes = Buffer.from(encoder.value(id, event))
    made.set(event, new WeakRef(bytes))
    return bytes
  }
}

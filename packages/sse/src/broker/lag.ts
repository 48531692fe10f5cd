import { errors } from '../errors.ts'
import type { Put } from '../messages.ts'
import type { LagLimits } from './broker.ts'

const sizeOf = (puts: readonly Put[]) => puts.reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0)

/** Counts what is on its way, and refuses more where that is too much. */
export class Lag {
  readonly #limits: LagLimits
  #values = 0
  #bytes = 0

  constructor(limits: LagLimits) {
    this.#limits = limits
  }

  get values(): number {
    return this.#values
  }

  /** @returns what to call, once, when they have arrived; @throws Problem `FALLEN_BEHIND` */
  add(puts: readonly Put[]): () => void {
    if (this.#values >= this.#limits.values || this.#bytes >= this.#limits.bytes) {
      throw errors.FALLEN_BEHIND(undefined, { headers: { 'retry-after': '1' } })
    }
    const bytes = sizeOf(puts)
    this.#values += puts.length
    this.#bytes += bytes
    return () => {
      this.#values -= puts.length
      this.#bytes -= bytes
    }
  }
}

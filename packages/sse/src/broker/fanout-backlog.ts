import { errors } from '../errors.ts'
import type { TopicPut } from '../core/event.ts'
import type { BacklogLimits } from './broker.ts'

/** Total size of the values (bytes). */
export const sumBytes = (puts: readonly TopicPut[]) =>
  puts.reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0)

/** Counts the values that are published but not yet delivered, and refuses more values at a limit. */
export class FanoutBacklog {
  readonly #limits: BacklogLimits
  #values = 0
  #bytes = 0

  constructor(limits: BacklogLimits) {
    this.#limits = limits
  }

  get values(): number {
    return this.#values
  }

  get isFull(): boolean {
    return this.#values >= this.#limits.values || this.#bytes >= this.#limits.bytes
  }

  /**
   * Counts values.
   * @param bytes size of the values
   * @returns a function to call once, after their delivery
   * @throws Problem `FANOUT_BACKLOG_FULL`
   */
  add(values: number, bytes: number): () => void {
    if (this.isFull) throw createBacklogError()
    return this.count(values, bytes)
  }

  /** As `add`, for values that cannot be refused any more. */
  count(values: number, bytes: number): () => void {
    this.#values += values
    this.#bytes += bytes
    return () => {
      this.#values -= values
      this.#bytes -= bytes
    }
  }
}

export const createBacklogError = () => errors.FANOUT_BACKLOG_FULL(undefined, { headers: { 'retry-after': '1' } })

import { errors } from '../errors.ts'
import type { Put } from '../messages.ts'
import type { BacklogLimits } from './broker.ts'

/** Total size of the values (bytes). */
export const sumBytes = (puts: readonly Put[]) => puts.reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0)

/** Counts the values in fan-out and refuses more when a limit is reached. */
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

  /** @returns a function to call once, after delivery; @throws Problem `FANOUT_BACKLOG_FULL` */
  add(values: number, bytes: number): () => void {
    if (this.isFull) throw createBacklogError()
    return this.count(values, bytes)
  }

  /** Counts values that cannot be refused. @returns a function to call once, after delivery */
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

import { Outage } from '@influencer-stats/runtime/async/outage'
import { createBackOff, pause } from '@influencer-stats/runtime/async/retry'
import type { MaybePromise } from '../state/stats-state.ts'

export interface RowWriterOptions<Row> {
  /** Writes rows; called with one batch at a time. */
  write(rows: readonly Row[]): MaybePromise<void>
  /** Returns the size of a row. A batch is complete when the sizes of its rows sum to `maxBatchSize`. */
  getSize(row: Row): number
  readonly maxBatchSize: number
  /** Called with the cause when rows cannot be written, once per outage. */
  onFault(fault: unknown): void
}

interface PendingRow<Row> {
  readonly row: Row
  readonly written: PromiseWithResolvers<void>
}

/**
 * Writes rows to a state: many at once, and only the newest of each id. While the state fails no caller waits: this class
 * holds the newest rows and writes them when the state is available again.
 */
export class RowWriter<Row> {
  readonly #options: RowWriterOptions<Row>
  readonly #pending = new Map<string, PendingRow<Row>>()
  readonly #outage: Outage
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined
  #batch = new Map<string, PendingRow<Row>>()

  constructor(options: RowWriterOptions<Row>) {
    this.#options = options
    this.#outage = new Outage({ onStart: options.onFault })
  }

  /** Returns the row of an id that is not being written yet. */
  get(id: string): Row | undefined {
    return this.#pending.get(id)?.row
  }

  /** Resolves when this or a newer row of the id is written or removed; at once while the state fails. */
  async set(id: string, row: Row): Promise<void> {
    if (this.#closing.signal.aborted) return
    const { written } = this.#pending.get(id) ?? { written: Promise.withResolvers<void>() }
    this.#pending.set(id, { row, written })
    this.#running ??= this.#run()
    if (!this.#outage.isActive) await written.promise
  }

  /** Removes the row of an id. Resolves when no row of this id is being written. */
  async remove(id: string): Promise<void> {
    this.#pending.get(id)?.written.resolve()
    this.#pending.delete(id)
    await this.#batch.get(id)?.written.promise
  }

  /** Writes the pending rows if the state is available. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    const delays = createBackOff()
    // Rows that arrive in the same turn are written together.
    await Promise.resolve()
    while (this.#pending.size > 0) {
      this.#batch = this.#takeBatch()
      try {
        await this.#options.write(Array.from(this.#batch.values(), ({ row }) => row))
        this.#outage.succeed()
      } catch (fault) {
        this.#outage.fail(fault)
        for (const [id, one] of this.#batch) if (!this.#pending.has(id)) this.#pending.set(id, one)
        for (const { written } of this.#pending.values()) written.resolve()
      }
      for (const { written } of this.#batch.values()) written.resolve()
      this.#batch = new Map()
      if (!this.#outage.isActive) continue
      if (signal.aborted) break
      await pause(delays.next(), signal)
    }
    this.#running = undefined
  }

  #takeBatch(): Map<string, PendingRow<Row>> {
    const batch = new Map<string, PendingRow<Row>>()
    let size = 0
    for (const [id, one] of this.#pending) {
      batch.set(id, one)
      this.#pending.delete(id)
      size += this.#options.getSize(one.row)
      if (size >= this.#options.maxBatchSize) break
    }
    return batch
  }
}

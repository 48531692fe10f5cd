import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Collects items, and passes all items of one turn of the event loop to `flush` together. If `flush` returns a promise,
 * the items that arrive before it is resolved form the next batch.
 */
export class Batcher<T> {
  readonly #flush: (items: T[]) => Promise<void> | void
  #items: T[] = []
  /** The flush in progress. */
  #running: Promise<void> | undefined

  /** @param flush never throws or rejects */
  constructor(flush: (items: T[]) => Promise<void> | void) {
    this.#flush = flush
  }

  add(item: T): void {
    if (this.#items.push(item) === 1 && !this.#running) setImmediate(this.#run)
  }

  /** Resolves when all items are flushed, including those that are added before. */
  async waitUntilIdle(): Promise<void> {
    while (this.#running || this.#items.length > 0) await (this.#running ?? nextTurn())
  }

  readonly #run = (): void => {
    const items = this.#items
    this.#items = []
    this.#running = this.#flush(items)?.then(() => {
      this.#running = undefined
      if (this.#items.length > 0) this.#run()
    })
  }
}

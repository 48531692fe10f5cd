/**
 * Collects items, and passes all items of one turn of the event loop to `flush` together. If `flush` returns a promise,
 * the items that arrive before it is settled form the next batch.
 */
export class Batcher<T> {
  readonly #flush: (items: T[]) => Promise<void> | void
  readonly #schedule: (run: () => void) => void
  #items: T[] = []
  /** The flush in progress. */
  #running: Promise<void> | undefined

  /**
   * @param flush handles the errors of its items. If it rejects, `waitUntilIdle` rejects, and later items are flushed.
   * @param schedule runs a flush later: at the end of the turn, or with `queueMicrotask` at the end of the task
   */
  constructor(flush: (items: T[]) => Promise<void> | void, schedule: (run: () => void) => void = setImmediate) {
    this.#flush = flush
    this.#schedule = schedule
  }

  add(item: T): void {
    if (this.#items.push(item) === 1 && !this.#running) this.#schedule(this.flushNow)
  }

  /** Flushes the items at once, unless a flush is in progress: then its end flushes them. */
  readonly flushNow = (): void => {
    if (this.#items.length > 0 && !this.#running) this.#run()
  }

  /** Resolves when all items are flushed, including those that are added before. @throws the error of a flush */
  async waitUntilIdle(): Promise<void> {
    while (this.#running || this.#items.length > 0) await (this.#running ?? new Promise<void>(this.#schedule))
  }

  #run(): void {
    const items = this.#items
    this.#items = []
    this.#running = this.#flush(items)?.finally(() => {
      this.#running = undefined
      if (this.#items.length > 0) this.#run()
    })
  }
}

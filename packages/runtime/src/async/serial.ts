/** Runs tasks one after the other, in the order of the calls. A failed task does not affect the next one. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs a task after all earlier tasks have ended. Resolves or rejects like the task. */
  run<T>(task: () => Promise<T> | T): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when all tasks that run or wait at the time of the call have ended. */
  async waitUntilIdle(): Promise<void> {
    await this.#last
  }
}

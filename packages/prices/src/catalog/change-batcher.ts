import { setImmediate as nextTurn } from 'node:timers/promises'

/** A change that waits for its group. */
export interface PendingChange<Change, Outcome> {
  readonly change: Change
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Runs one group of changes at a time. On the main thread no other change of the catalog runs meanwhile. */
type RunInTurn = (run: () => Promise<void>) => Promise<void>

/**
 * Groups changes. All changes that arrive within one turn of the event loop, or while the previous group is running,
 * become one group. On a serving thread a group is one message to the main thread. On the main thread a group is one sync
 * to disk and one message to all threads. A second change of the same key waits for the next group.
 */
export class ChangeBatcher<Change extends { readonly key: string }, Outcome> {
  readonly #runInTurn: RunInTurn
  readonly #commit: (group: readonly PendingChange<Change, Outcome>[]) => Promise<void>
  #queue: PendingChange<Change, Outcome>[] = []
  #isScheduled = false

  /** @param commit settles every change of a group, and never rejects */
  constructor(runInTurn: RunInTurn, commit: (group: readonly PendingChange<Change, Outcome>[]) => Promise<void>) {
    this.#runInTurn = runInTurn
    this.#commit = commit
  }

  submit(change: Change): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    void this.#runInTurn(async () => {
      // After all requests that the event loop reads in this turn.
      await nextTurn()
      this.#isScheduled = false
      await this.#commit(this.#takeBatch())
    })
  }

  /** Returns the first change of each key. */
  #takeBatch(): PendingChange<Change, Outcome>[] {
    const firsts = new Map<string, PendingChange<Change, Outcome>>()
    const later: PendingChange<Change, Outcome>[] = []
    for (const one of this.#queue) {
      if (firsts.has(one.change.key)) later.push(one)
      else firsts.set(one.change.key, one)
    }
    this.#queue = later
    if (later.length > 0) this.#schedule()
    return [...firsts.values()]
  }
}

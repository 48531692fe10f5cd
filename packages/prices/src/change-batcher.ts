import { setImmediate as nextTurn } from 'node:timers/promises'

/** A change that waits for its group. */
export interface PendingChange<Change, Outcome> {
  readonly change: Change
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Makes changes one group after the other, in turn with whatever else changes the catalog. */
type RunInTurn = (run: () => Promise<void>) => Promise<void>

/**
 * What comes within one turn of the event loop, and while the group before is under way, becomes one group: on a thread one
 * message to main, there one sync to disk and one word to all threads, however many changes. Of two changes of one key the
 * second waits for the next group.
 */
export class ChangeBatcher<Change extends { readonly key: string }, Outcome> {
  readonly #runInTurn: RunInTurn
  readonly #commit: (group: readonly PendingChange<Change, Outcome>[]) => Promise<void>
  #queue: PendingChange<Change, Outcome>[] = []
  #isScheduled = false

  /** @param commit settles every change of a group, and throws nothing */
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
      // After what the loop reads in this turn.
      await nextTurn()
      this.#isScheduled = false
      await this.#commit(this.#takeBatch())
    })
  }

  /** The first change of each key. */
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

import { setImmediate as nextTurn } from 'node:timers/promises'

/** A change that waits for its group. */
export interface Pending<Change, Outcome> {
  readonly change: Change
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Makes changes one group after the other, in turn with whatever else changes the catalog. */
type InTurn = (run: () => Promise<void>) => Promise<void>

/**
 * What comes within one turn of the event loop, and while the group before is under way, becomes one group: on a thread one
 * message to main, there one sync to disk and one word to all threads, however many changes. Of two changes of one key the
 * second waits for the next group.
 */
export class Groups<Change extends { readonly key: string }, Outcome> {
  readonly #inTurn: InTurn
  readonly #commit: (group: readonly Pending<Change, Outcome>[]) => Promise<void>
  #gathering: Pending<Change, Outcome>[] = []
  #asked = false

  /** @param commit settles every change of a group, and throws nothing */
  constructor(inTurn: InTurn, commit: (group: readonly Pending<Change, Outcome>[]) => Promise<void>) {
    this.#inTurn = inTurn
    this.#commit = commit
  }

  submit(change: Change): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#gathering.push({ change, resolve, reject })
      this.#ask()
    })
  }

  #ask(): void {
    if (this.#asked) return
    this.#asked = true
    void this.#inTurn(async () => {
      // After what the loop reads in this turn.
      await nextTurn()
      this.#asked = false
      await this.#commit(this.#take())
    })
  }

  /** The first change of each key. */
  #take(): Pending<Change, Outcome>[] {
    const firsts = new Map<string, Pending<Change, Outcome>>()
    const later: Pending<Change, Outcome>[] = []
    for (const one of this.#gathering) {
      if (firsts.has(one.change.key)) later.push(one)
      else firsts.set(one.change.key, one)
    }
    this.#gathering = later
    if (later.length > 0) this.#ask()
    return [...firsts.values()]
  }
}

import type { Verdict } from './order/order.ts'
import { sizeOf, type FrameEntry } from './order/frame.ts'
import { leaseLost, unavailable } from './errors.ts'
import type { Appended } from './log.ts'

interface Waiting {
  resolve(appended: Appended<any>): void
  reject(error: unknown): void
}

/** What is appended within one turn: it has one place in the log, and who waits for it waits together. */
export class Group {
  readonly entries: FrameEntry[] = []
  bytes = 0
  /** When its oldest append came (ms, `performance.now`). */
  readonly since = performance.now()
  readonly #waiting: Waiting[] = []
  readonly #barriers: Waiting[] = []
  readonly #settled = Promise.withResolvers<void>()
  #isSettled = false
  #size = 0

  /** @param waiting so many wait for it */
  append(entry: FrameEntry, waiting = 1): Promise<Appended<any>> {
    this.#size += waiting
    this.entries.push(entry)
    this.bytes += sizeOf(entry)
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  /** How many wait for it. */
  get size(): number {
    return this.#size
  }

  /** @param waiting so many wait for it */
  barrier(waiting = 1): Promise<number> {
    this.#size += waiting
    return new Promise((resolve, reject) => this.#barriers.push({ resolve: ({ seq }) => resolve(seq), reject }))
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Resolves once everybody has an answer, whatever it is. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  /** @param outcomes of the entries that were applied, in their order */
  settle(seq: number, verdicts: readonly Verdict[], outcomes: readonly unknown[]): void {
    let applied = 0
    for (const [i, verdict] of verdicts.entries()) {
      const { resolve, reject } = this.#waiting[i]!
      if (verdict.kind === 'fenced') reject(leaseLost())
      else resolve({ seq, outcome: verdict.kind === 'lease' ? verdict.lease : outcomes[applied++] })
    }
    for (const { resolve } of this.#barriers) resolve({ seq, outcome: undefined })
    this.#end()
  }

  fail(error: unknown): void {
    for (const { reject } of this.#waiting) reject(error)
    // It changes nothing, so nothing about it is unknown.
    for (const { reject } of this.#barriers) reject(unavailable(error))
    this.#end()
  }

  #end(): void {
    this.#isSettled = true
    this.#settled.resolve()
  }
}

import { behind, unavailable } from './errors.ts'

interface Waiting {
  readonly seq: number
  resolve(): void
  reject(error: unknown): void
}

/** How far a view has come, for those who wait for it. */
export class Progress {
  readonly #waiting = new Set<Waiting>()
  readonly #onAdvance: (applied: number) => void
  #applied: number

  constructor(applied: number, onAdvance: (applied: number) => void = () => {}) {
    this.#applied = applied
    this.#onAdvance = onAdvance
  }

  get applied(): number {
    return this.#applied
  }

  /** Whether anybody waits for it to go on. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  advance(seq: number): void {
    this.#applied = seq
    this.#onAdvance(seq)
    for (const one of this.#waiting) if (one.seq <= seq) one.resolve()
  }

  /** @throws LOG_BEHIND */
  reached(seq: number, timeout: number): Promise<void> {
    if (seq <= this.#applied) return Promise.resolve()
    return new Promise<void>((resolve, reject) => {
      const end = (finish: () => void) => {
        clearTimeout(timer)
        this.#waiting.delete(one)
        finish()
      }
      const one: Waiting = { seq, resolve: () => end(resolve), reject: (error) => end(() => reject(error)) }
      const timer = setTimeout(() => one.reject(behind()), timeout)
      this.#waiting.add(one)
    })
  }

  /** It will not go on. */
  end(): void {
    for (const one of this.#waiting) one.reject(unavailable())
  }
}

import { createSequenceTimeoutError, createUnavailableError } from './errors.ts'

interface SequenceWaiter {
  readonly seq: number
  resolve(): void
  reject(error: unknown): void
}

/** Last sequence that a state machine has applied, and the callers that wait for a later sequence. */
export class AppliedProgress {
  readonly #waiters = new Set<SequenceWaiter>()
  readonly #onAdvance: (applied: number) => void
  #applied: number

  constructor(applied: number, onAdvance: (applied: number) => void = () => {}) {
    this.#applied = applied
    this.#onAdvance = onAdvance
  }

  get applied(): number {
    return this.#applied
  }

  /** True if a caller waits for a sequence that is not applied yet. */
  get hasWaiters(): boolean {
    return this.#waiters.size > 0
  }

  /** Records that all entries up to `seq` are applied. */
  advance(seq: number): void {
    this.#applied = seq
    this.#onAdvance(seq)
    for (const waiter of this.#waiters) if (waiter.seq <= seq) waiter.resolve()
  }

  /**
   * Resolves once all entries up to `seq` are applied.
   * @throws SEQUENCE_WAIT_TIMEOUT after `timeout` ms; LOG_UNAVAILABLE if `close` is called first
   */
  waitForSequence(seq: number, timeout: number): Promise<void> {
    if (seq <= this.#applied) return Promise.resolve()
    return new Promise<void>((resolve, reject) => {
      const close = (finish: () => void) => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        finish()
      }
      const waiter: SequenceWaiter = {
        seq,
        resolve: () => close(resolve),
        reject: (error) => close(() => reject(error)),
      }
      const timer = setTimeout(() => waiter.reject(createSequenceTimeoutError()), timeout)
      this.#waiters.add(waiter)
    })
  }

  /** Rejects all waiters: no further sequence will be applied. */
  close(): void {
    for (const waiter of this.#waiters) waiter.reject(createUnavailableError())
  }
}

/** Aborts a request when its time is over, or when its caller aborts it. */
export class Cancellation {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #abort = () => this.#controller.abort(this.#caller!.reason)
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param caller signal of the caller */
  constructor(caller?: AbortSignal) {
    this.#caller = caller
    if (caller?.aborted) this.#abort()
    else caller?.addEventListener('abort', this.#abort)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Aborts with a `TimeoutError` after this time (ms), unless another call replaces it. `Infinity` sets no limit. */
  setLimit(ms: number): void {
    clearTimeout(this.#timer)
    // A timer with a longer time would end at once.
    if (ms > 0x7f_ff_ff_ff) return
    const reason = () => new DOMException(`no reply within ${ms} ms`, 'TimeoutError')
    this.#timer = setTimeout(() => this.#controller.abort(reason()), ms)
  }

  /** Ends the request and its reply. Idempotent. */
  end(): void {
    clearTimeout(this.#timer)
    this.#caller?.removeEventListener('abort', this.#abort)
    this.#controller.abort()
  }
}

export interface OutageOptions {
  /** Called with the cause when an outage begins. */
  onStart(fault: unknown): void
  /** Called when an outage ends. */
  onEnd?(): void
}

/** State of a resource that may be unavailable. Each outage is reported once at its start, and once at its end. */
export class Outage {
  readonly #options: OutageOptions
  #isActive = false

  constructor(options: OutageOptions) {
    this.#options = options
  }

  /** True after a failed use, until the next successful one. */
  get isActive(): boolean {
    return this.#isActive
  }

  /** Records a failed use. */
  fail(fault: unknown): void {
    if (this.#isActive) return
    this.#isActive = true
    this.#options.onStart(fault)
  }

  /** Records a successful use. */
  succeed(): void {
    if (!this.#isActive) return
    this.#isActive = false
    this.#options.onEnd?.()
  }
}

/** The outcome of all completed reads. */
export interface ReadState<T> {
  /** Value of the newest successful read. Undefined once a reply states that it no longer exists (410). */
  readonly value?: T
  /** Error of the newest read. After a 410 it remains until a read succeeds. */
  readonly error?: unknown
  /** True before the first read, and while a read is in progress. */
  readonly isLoading: boolean
}

/** A read without a reply after this time has failed (ms). */
const MAX_READ_MS = 30_000
/** Delay from a failed read to its repetition (ms). */
const RETRY_MS = 10_000
const GONE_STATUS = 410

const isGone = (error: unknown) => (error as { status?: unknown } | undefined)?.status === GONE_STATUS

/**
 * Reads one value again and again. A reload does not discard a read in progress but follows it: otherwise no value would
 * arrive if reloads were more frequent than replies. A failed read is repeated.
 */
export class Loader<T> {
  readonly #read: () => Promise<T>
  #onChange: ((error?: unknown) => void) | undefined
  /** Numbers of the newest read and of the newest read with a reply. */
  #newest = 0
  #replied = 0
  #isReading = false
  /** True if another read must follow, because a change may be newer than the read in progress. */
  #isOutdated = false
  /** Ends the read in progress after `MAX_READ_MS`, or repeats a failed read after `RETRY_MS`. */
  #timer: ReturnType<typeof setTimeout> | undefined
  state: ReadState<T> = { isLoading: true }

  constructor(read: () => Promise<T>) {
    this.#read = read
  }

  /**
   * Allows reads.
   * @param onChange runs after each change of `state`, with the error of a read that failed
   * @returns a function that ends all reads: their replies are ignored
   */
  start(onChange: (error?: unknown) => void): () => void {
    this.#onChange = onChange
    return () => {
      this.#onChange = undefined
      clearTimeout(this.#timer)
    }
  }

  readonly reload = (): void => {
    if (!this.#onChange) return
    if (this.#isReading) {
      this.#isOutdated = true
      return
    }
    const number = ++this.#newest
    this.#isReading = true
    this.#isOutdated = false
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#fail(number, new Error('The read timed out.')), MAX_READ_MS)
    this.#change({ ...this.state, isLoading: true })
    this.#read().then(
      (value) => this.#succeed(number, value),
      (error: unknown) => {
        this.#fail(number, error)
        this.#replied = Math.max(this.#replied, number)
      },
    )
  }

  /** A reply after `MAX_READ_MS` counts, too, unless a newer read has a reply. */
  #succeed(number: number, value: T): void {
    if (number <= this.#replied) return
    this.#replied = number
    const isCurrent = this.#endRead(number)
    this.#change({ value, isLoading: this.#isReading })
    if (isCurrent && this.#isOutdated) this.reload()
  }

  #fail(number: number, error: unknown): void {
    if (!this.#endRead(number)) return
    const { value, error: before } = this.state
    if (isGone(error)) this.#change({ error, isLoading: false }, error)
    else if (isGone(before)) this.#change({ error: before, isLoading: false }, error)
    else this.#change({ ...(value !== undefined && { value }), error, isLoading: false }, error)
    if (this.#isOutdated) this.reload()
    else if (this.#onChange) this.#timer = setTimeout(this.reload, RETRY_MS)
  }

  /** Returns false if the read has ended already. */
  #endRead(number: number): boolean {
    if (!this.#isReading || number !== this.#newest) return false
    this.#isReading = false
    clearTimeout(this.#timer)
    return true
  }

  #change(state: ReadState<T>, error?: unknown): void {
    if (!this.#onChange) return
    this.state = state
    this.#onChange(error)
  }
}

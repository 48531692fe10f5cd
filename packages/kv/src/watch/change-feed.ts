import { toPage, type ChangePage, type ChangeStep } from '../core/change-pages.ts'

/** Approximate memory of a step in addition to its bytes (bytes). */
const STEP_OVERHEAD_BYTES = 100
/** Size at which a page ends (bytes). The last step of a page may exceed it. */
const PAGE_BYTES = 1_048_576
/** Number of discarded steps after which the list is shortened. */
const COMPACT_STEPS = 1_024

const EMPTY_WRITES = Buffer.alloc(0)

const getStepCost = ({ writes }: ChangeStep) => writes.length + STEP_OVERHEAD_BYTES

/**
 * Latest changes, in order, for watch streams. The size is limited, but the newest step (the changes of one sequence)
 * remains at any size. The feed belongs to the main thread.
 */
export class ChangeFeed {
  readonly #maxBytes: number
  #steps: ChangeStep[] = []
  /** Number of discarded steps that are still in the list, without their writes. */
  #removed = 0
  #bytes = 0
  /** The feed has all changes after this sequence; `undefined` if the feed is off. */
  #floor: number | undefined
  #upTo = 0
  readonly #waiters = new Set<() => void>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** True if the feed stores changes. */
  get isOn(): boolean {
    return this.#floor !== undefined
  }

  /** True if a caller waits for the next change. */
  get hasWaiters(): boolean {
    return this.#waiters.size > 0
  }

  /** Last sequence whose changes the feed has received; directly after `start`, the sequence of the start. */
  get upTo(): number {
    return this.#upTo
  }

  /** Discards all changes, and starts to store the changes after `seq`. */
  start(seq: number): void {
    this.stop()
    this.#floor = this.#upTo = seq
  }

  /** Stops storing changes, discards all, and ends all waits. */
  stop(): void {
    this.#steps = []
    this.#removed = this.#bytes = 0
    this.#floor = undefined
    this.#notify()
  }

  /** Adds the writes of the next sequence. Further writes of the last sequence are appended to its step. */
  add(step: ChangeStep): void {
    const last = this.#steps.at(-1)
    const { seq, writes } = step
    if (last?.seq === seq) this.#steps[this.#steps.length - 1] = { seq, writes: Buffer.concat([last.writes, writes]) }
    else this.#steps.push(step)
    this.#bytes += getStepCost(step)
    // The newest step remains at any size, because streams that are up to date need it.
    while (this.#bytes > this.#maxBytes && this.#removed < this.#steps.length - 1) this.#dropOldest()
    this.advanceTo(seq)
  }

  /** Records that all changes up to this sequence were added. */
  advanceTo(seq: number): void {
    this.#upTo = seq
    this.#notify()
  }

  /**
   * Resolves with the changes after `seq`. If there are none yet, it waits for up to `timeout` ms. If only the sequence
   * advances, or the time ends, the page is empty. Resolves with `undefined` if the feed is off, if it no longer has
   * these changes, or if `seq` is later than its last sequence.
   * @param maxBytes size at which a page ends (bytes); with 0 the page is empty, which only checks that the feed has
   * the changes
   */
  async readAfter(seq: number, timeout: number, maxBytes = PAGE_BYTES): Promise<ChangePage | undefined> {
    if (timeout > 0 && this.#has(seq) && seq === this.#upTo) await this.#waitForChange(timeout)
    return this.#has(seq) ? this.#buildPage(seq, maxBytes) : undefined
  }

  #has(seq: number): boolean {
    return this.#floor !== undefined && seq >= this.#floor && seq <= this.#upTo
  }

  #buildPage(seq: number, maxBytes: number): ChangePage {
    const steps: ChangeStep[] = []
    let bytes = 0
    let i = this.#findFirstAfter(seq)
    for (; i < this.#steps.length && bytes < maxBytes; i++) {
      steps.push(this.#steps[i]!)
      bytes += getStepCost(this.#steps[i]!)
    }
    const isEnd = i === this.#steps.length
    return toPage(steps, isEnd ? this.#upTo : (steps.at(-1)?.seq ?? seq), isEnd)
  }

  #findFirstAfter(seq: number): number {
    let low = this.#removed
    let high = this.#steps.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#steps[middle]!.seq > seq) high = middle
      else low = middle + 1
    }
    return low
  }

  #dropOldest(): void {
    const step = this.#steps[this.#removed]!
    this.#floor = step.seq
    this.#bytes -= getStepCost(step)
    // The writes are released at once. The list itself is shortened every `COMPACT_STEPS` steps.
    this.#steps[this.#removed++] = { seq: step.seq, writes: EMPTY_WRITES }
    if (this.#removed >= COMPACT_STEPS) {
      this.#steps.splice(0, this.#removed)
      this.#removed = 0
    }
  }

  #waitForChange(timeout: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeout).unref()
    this.#waiters.add(resolve)
    return promise.finally(() => {
      clearTimeout(timer)
      this.#waiters.delete(resolve)
    })
  }

  #notify(): void {
    for (const resolveWaiter of this.#waiters) resolveWaiter()
    this.#waiters.clear()
  }
}

import { toPage, type ChangePage, type ChangeStep } from '../core/change-pages.ts'

/** Besides its bytes a step takes about so many. */
const STEP_OVERHEAD_BYTES = 100
/** What goes to a thread at a time (bytes), or one step that is larger. */
const PAGE_BYTES = 1_048_576
/** Steps that are thrown away are taken out of the list so many at a time. */
const SWEEP_STEPS = 1_024

const EMPTY_WRITES = Buffer.alloc(0)

const getStepCost = ({ writes }: ChangeStep) => writes.length + STEP_OVERHEAD_BYTES

/** The last changes, in their order, for those who watch: as many as so many bytes hold, or one. Main's. */
export class ChangeFeed {
  readonly #maxBytes: number
  #steps: ChangeStep[] = []
  /** So many of the list are thrown away already. */
  #removed = 0
  #bytes = 0
  /** What came after it is here; nothing: nothing is kept. */
  #floor: number | undefined
  #upTo = 0
  #waiters: (() => void)[] = []

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isOn(): boolean {
    return this.#floor !== undefined
  }

  /** Whether somebody waits for what comes next. */
  get hasWaiters(): boolean {
    return this.#waiters.length > 0
  }

  /** All up to this place is in it, or came before it began. */
  get upTo(): number {
    return this.#upTo
  }

  /** From now on what comes after `seq` is kept. */
  start(seq: number): void {
    this.stop()
    this.#floor = this.#upTo = seq
  }

  /** Nothing is kept, and who waits is told. */
  stop(): void {
    this.#steps = []
    this.#removed = this.#bytes = 0
    this.#floor = undefined
    this.#notify()
  }

  /** Takes what was written at the next place; more at the last one joins it. */
  add(step: ChangeStep): void {
    const last = this.#steps.at(-1)
    const { seq, writes } = step
    if (last?.seq === seq) this.#steps[this.#steps.length - 1] = { seq, writes: Buffer.concat([last.writes, writes]) }
    else this.#steps.push(step)
    this.#bytes += getStepCost(step)
    // The newest stays, however large it is: those who have all before it are to get it.
    while (this.#bytes > this.#maxBytes && this.#removed < this.#steps.length - 1) this.#dropOldest()
    this.advanceTo(seq)
  }

  /** Up to there is nothing else. */
  advanceTo(seq: number): void {
    this.#upTo = seq
    this.#notify()
  }

  /**
   * Some of what came after `seq`; none where nothing has within `patience` ms. `undefined` where that is not kept any
   * more, or no such place is known.
   * @param maxBytes a page ends when it reaches this size; 0 only checks that the sequence is known
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
    // Let go of at once; the list itself is shortened now and then.
    this.#steps[this.#removed++] = { seq: step.seq, writes: EMPTY_WRITES }
    if (this.#removed >= SWEEP_STEPS) {
      this.#steps.splice(0, this.#removed)
      this.#removed = 0
    }
  }

  #waitForChange(timeout: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeout).unref()
    this.#waiters.push(resolve)
    return promise.finally(() => clearTimeout(timer))
  }

  #notify(): void {
    if (this.#waiters.length === 0) return
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolveWaiter of waiters) resolveWaiter()
  }
}

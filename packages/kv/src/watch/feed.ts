import { toPage, type Page, type Step } from '../core/changes.ts'

/** Besides its bytes a step takes about so many. */
const STEP_COST = 100
/** What goes to a thread at a time (bytes), or one step that is larger. */
const PAGE_BYTES = 1_048_576
/** Steps that are thrown away are taken out of the list so many at a time. */
const SWEEP = 1_024

const NOTHING = Buffer.alloc(0)

const costOf = ({ writes }: Step) => writes.length + STEP_COST

/** The last changes, in their order, for those who watch: as many as so many bytes hold, or one. Main's. */
export class Feed {
  readonly #maxBytes: number
  #steps: Step[] = []
  /** So many of the list are thrown away already. */
  #gone = 0
  #bytes = 0
  /** What came after it is here; nothing: nothing is kept. */
  #floor: number | undefined
  #upTo = 0
  #waiting: (() => void)[] = []

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isOn(): boolean {
    return this.#floor !== undefined
  }

  /** Whether somebody waits for what comes next. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0
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
    this.#gone = this.#bytes = 0
    this.#floor = undefined
    this.#wake()
  }

  /** Takes what was written at the next place; more at the last one joins it. */
  add(step: Step): void {
    const last = this.#steps.at(-1)
    const { seq, writes } = step
    if (last?.seq === seq) this.#steps[this.#steps.length - 1] = { seq, writes: Buffer.concat([last.writes, writes]) }
    else this.#steps.push(step)
    this.#bytes += costOf(step)
    // The newest stays, however large it is: those who have all before it are to get it.
    while (this.#bytes > this.#maxBytes && this.#gone < this.#steps.length - 1) this.#drop()
    this.advance(seq)
  }

  /** Up to there is nothing else. */
  advance(seq: number): void {
    this.#upTo = seq
    this.#wake()
  }

  /**
   * Some of what came after `seq`; none where nothing has within `patience` ms. `undefined` where that is not kept any
   * more, or no such place is known.
   * @param maxBytes a page ends when it reaches this size; 0 only checks that the sequence is known
   */
  async after(seq: number, patience: number, maxBytes = PAGE_BYTES): Promise<Page | undefined> {
    if (patience > 0 && this.#has(seq) && seq === this.#upTo) await this.#news(patience)
    return this.#has(seq) ? this.#pageAfter(seq, maxBytes) : undefined
  }

  #has(seq: number): boolean {
    return this.#floor !== undefined && seq >= this.#floor && seq <= this.#upTo
  }

  #pageAfter(seq: number, maxBytes: number): Page {
    const some: Step[] = []
    let bytes = 0
    let i = this.#firstAfter(seq)
    for (; i < this.#steps.length && bytes < maxBytes; i++) {
      some.push(this.#steps[i]!)
      bytes += costOf(this.#steps[i]!)
    }
    const isEnd = i === this.#steps.length
    return toPage(some, isEnd ? this.#upTo : (some.at(-1)?.seq ?? seq), isEnd)
  }

  #firstAfter(seq: number): number {
    let low = this.#gone
    let high = this.#steps.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#steps[middle]!.seq > seq) high = middle
      else low = middle + 1
    }
    return low
  }

  #drop(): void {
    const step = this.#steps[this.#gone]!
    this.#floor = step.seq
    this.#bytes -= costOf(step)
    // Let go of at once; the list itself is shortened now and then.
    this.#steps[this.#gone++] = { seq: step.seq, writes: NOTHING }
    if (this.#gone >= SWEEP) {
      this.#steps.splice(0, this.#gone)
      this.#gone = 0
    }
  }

  #news(patience: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, patience).unref()
    this.#waiting.push(resolve)
    return promise.finally(() => clearTimeout(timer))
  }

  #wake(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const tell of waiting) tell()
  }
}

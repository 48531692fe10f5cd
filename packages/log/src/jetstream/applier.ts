import { setTimeout as delay } from 'node:timers/promises'
import type { Ground } from './check.ts'
import type { FrameError } from '../errors.ts'
import { Joiner, type Message, type PlacedFrame } from '../order/joiner.ts'
import { Order, type Verdict } from '../order/order.ts'
import type { Entry, LeaseState, Position, View } from '../log.ts'

export interface ApplierOptions {
  readonly view: View
  readonly start: Position
  /** Whether somebody waits for what has come. What nobody waits for is applied some ms later, more at once. */
  isAwaited(message: Message): boolean
  /** A frame was applied: what became of its entries, and what the view gave for those that it saw. */
  onApplied(frame: PlacedFrame, verdicts: readonly Verdict[], outcomes: readonly unknown[]): void
  /** A frame does not count. */
  onRefused(frame: PlacedFrame): void
  /** So far all is applied. */
  onAdvance(seq: number): void
  /** The lease changed hands or was prolonged. */
  onLease(lease: LeaseState, at: number): void
  /** The view takes nothing at present; it is tried again. */
  onTrouble(error: unknown): void
  onFatal(error: Error, seq: number): void
}

// What is applied at once at most: larger ones gained nothing in catching up.
const MOST_BYTES = 4 * 1_024 * 1_024
const MOST_FRAMES = 1_024
/** Bytes that wait to be applied before no more are asked for. */
const ENOUGH = 16 * 1_024 * 1_024
/** What nobody waits for is applied this late at most (ms), and no more of it is kept back (bytes): each time costs as much as many frames. */
const MOST_LATE = 8
const MOST_KEPT_BACK = 256 * 1_024
/** Frames without an entry after which the position is kept anyway: as many are read again after a crash. */
const MOST_UNKEPT = 256
const RETRY_AFTER = 500

/** What came of a frame, to be told once its batch is applied. */
interface Judged {
  readonly frame: PlacedFrame
  readonly verdicts: Verdict[] | undefined
}

/** Gives frames to the view, as many at once as have come. */
export class Applier {
  readonly #options: ApplierOptions
  readonly #joiner = new Joiner()
  readonly #order: Order
  #inbox: Message[] = []
  #waiting = 0
  /** Up to there all that has come is applied at once. */
  #due = 0
  #later: NodeJS.Timeout | undefined
  #unkept = 0
  #running: Promise<void> | undefined
  #isEnded = false
  readonly #ending = new AbortController()

  constructor(options: ApplierOptions) {
    this.#options = options
    this.#order = new Order(options.start)
  }

  /** The last frame that was looked at. */
  get ground(): Ground {
    return this.#order.ground
  }

  /** Takes messages in their order. Gives a promise where more should not come before it resolves. */
  take(messages: readonly Message[]): Promise<void> | undefined {
    if (this.#isEnded) return undefined
    let isAwaited = false
    for (const message of messages) {
      this.#inbox.push(message)
      this.#waiting += message.data.length
      isAwaited ||= this.#options.isAwaited(message)
    }
    if (isAwaited || this.#waiting > MOST_KEPT_BACK) this.flush()
    else this.#later ??= setTimeout(() => this.flush(), MOST_LATE)
    return this.#waiting >= ENOUGH ? this.#running : undefined
  }

  /** What has come is awaited by now. */
  flush(): void {
    this.#stopWaiting()
    this.#due = this.#inbox.at(-1)?.seq ?? 0
    if (this.#due > 0) this.#running ??= this.#run()
  }

  /** Ends after what is being applied, and keeps how far it came. */
  async end(): Promise<void> {
    this.#isEnded = true
    this.#inbox = []
    this.#stopWaiting()
    this.#ending.abort()
    await this.#running
    if (this.#unkept > 0) await this.#options.view.apply([], this.#order.position()).catch(() => {})
  }

  async #run(): Promise<void> {
    // What else this turn brings comes along; and whoever started this has it before it ends.
    await undefined
    while (this.#inbox.length > 0 && this.#inbox[0]!.seq <= this.#due) {
      const judged = this.#judge()
      if (!judged) break
      if (judged.length > 0 && !(await this.#apply(judged))) break
    }
    this.#running = undefined
  }

  /** Nothing where what has come must not be applied. */
  #judge(): Judged[] | undefined {
    const judged: Judged[] = []
    let bytes = 0
    let taken = 0
    try {
      while (taken < this.#inbox.length && bytes < MOST_BYTES && judged.length < MOST_FRAMES) {
        const message = this.#inbox[taken++]!
        bytes += message.data.length
        const frame = this.#joiner.take(message)
        if (frame) judged.push({ frame, verdicts: this.#order.take(frame) })
      }
    } catch (error) {
      return this.#giveUp(error as Error, this.#inbox[taken - 1]!.seq)
    }
    this.#inbox.splice(0, taken)
    this.#waiting -= bytes
    return judged
  }

  #stopWaiting(): void {
    clearTimeout(this.#later)
    this.#later = undefined
  }

  #giveUp(error: Error, seq: number): undefined {
    this.#options.onFatal(error, seq)
    this.#isEnded = true
    this.#inbox = []
    this.#stopWaiting()
    this.#unkept = 0
  }

  /** Resolves with whether to go on. */
  async #apply(judged: readonly Judged[]): Promise<boolean> {
    const entries = judged.flatMap(({ verdicts = [] }) =>
      verdicts.flatMap((verdict): Entry[] => (verdict.kind === 'applied' ? [verdict.entry] : [])),
    )
    let outcomes: unknown[] = []
    this.#unkept += judged.length
    if (entries.length > 0 || this.#unkept >= MOST_UNKEPT) {
      const given = await this.#give(entries)
      if (!given) {
        // The position of what was not applied must not be kept.
        this.#unkept = 0
        return false
      }
      outcomes = given
      this.#unkept = 0
    }
    this.#tell(judged, outcomes)
    return true
  }

  /** Until the view takes them; nothing where it ends before. */
  async #give(entries: readonly Entry[]): Promise<unknown[] | undefined> {
    const position = this.#order.position()
    for (;;) {
      try {
        return await this.#options.view.apply(entries, position)
      } catch (error) {
        const { code, seq = position.seq } = error as FrameError
        if (code === 'LOG_FORMAT_UNKNOWN' || code === 'LOG_DAMAGED') return this.#giveUp(error as Error, seq)
        this.#options.onTrouble(error)
        const { signal } = this.#ending
        await delay(RETRY_AFTER, undefined, { signal }).catch(() => {})
        if (signal.aborted) return undefined
      }
    }
  }

  #tell(judged: readonly Judged[], outcomes: readonly unknown[]): void {
    this.#options.onAdvance(judged.at(-1)!.frame.seq)
    let told = 0
    for (const { frame, verdicts } of judged) {
      if (!verdicts) {
        this.#options.onRefused(frame)
        continue
      }
      const applied = verdicts.filter(({ kind }) => kind === 'applied').length
      for (const verdict of verdicts) if (verdict.kind === 'lease') this.#options.onLease(verdict.lease, this.#order.at)
      this.#options.onApplied(frame, verdicts, outcomes.slice(told, told + applied))
      told += applied
    }
  }
}

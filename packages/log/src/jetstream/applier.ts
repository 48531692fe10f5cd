import { setTimeout as delay } from 'node:timers/promises'
import type { LogIdentity } from './verify-stream.ts'
import type { FrameError } from '../errors.ts'
import { FrameAssembler, type LogMessage, type SequencedFrame } from '../order/frame-assembler.ts'
import { Sequencer, type EntryDecision } from '../order/sequencer.ts'
import type { LogEntry, LeaseState, LogPosition, StateMachine } from '../log.ts'

export interface ApplierOptions {
  readonly stateMachine: StateMachine
  readonly start: LogPosition
  /** Whether somebody waits for what has come. What nobody waits for is applied some ms later, more at once. */
  isAwaited(message: LogMessage): boolean
  /** A frame was applied: what became of its entries, and what the view gave for those that it saw. */
  onApplied(frame: SequencedFrame, decisions: readonly EntryDecision[], outcomes: readonly unknown[]): void
  /** A frame does not count. */
  onRefused(frame: SequencedFrame): void
  /** So far all is applied. */
  onAdvance(seq: number): void
  /** The lease changed hands or was prolonged. */
  onLease(lease: LeaseState, at: number): void
  /** The view takes nothing at present; it is tried again. */
  onRetry(error: unknown): void
  onFatal(error: Error, seq: number): void
}

// What is applied at once at most: larger ones gained nothing in catching up.
const MAX_BATCH_BYTES = 4 * 1_024 * 1_024
const MAX_BATCH_FRAMES = 1_024
/** Bytes that wait to be applied before no more are asked for. */
const MAX_PENDING_BYTES = 16 * 1_024 * 1_024
/** What nobody waits for is applied this late at most (ms), and no more of it is kept back (bytes): each time costs as much as many frames. */
const MAX_APPLY_DELAY_MS = 8
const MAX_DELAYED_BYTES = 256 * 1_024
/** Frames without an entry after which the position is kept anyway: as many are read again after a crash. */
const MAX_UNSAVED_FRAMES = 256
const RETRY_DELAY_MS = 500

/** What came of a frame, to be told once its batch is applied. */
interface FrameDecisions {
  readonly frame: SequencedFrame
  readonly decisions: EntryDecision[] | undefined
}

/** Gives frames to the view, as many at once as have come. */
export class Applier {
  readonly #options: ApplierOptions
  readonly #assembler = new FrameAssembler()
  readonly #sequencer: Sequencer
  #inbox: LogMessage[] = []
  #pendingBytes = 0
  /** Up to there all that has come is applied at once. */
  #dueSequence = 0
  #delayTimer: NodeJS.Timeout | undefined
  #unsavedFrames = 0
  #running: Promise<void> | undefined
  #isEnded = false
  readonly #ending = new AbortController()

  constructor(options: ApplierOptions) {
    this.#options = options
    this.#sequencer = new Sequencer(options.start)
  }

  /** The last frame that was looked at. */
  get identity(): LogIdentity {
    return this.#sequencer.identity
  }

  /** Takes messages in their order. Gives a promise where more should not come before it resolves. */
  enqueue(messages: readonly LogMessage[]): Promise<void> | undefined {
    if (this.#isEnded) return undefined
    let isAwaited = false
    for (const message of messages) {
      this.#inbox.push(message)
      this.#pendingBytes += message.data.length
      isAwaited ||= this.#options.isAwaited(message)
    }
    if (isAwaited || this.#pendingBytes > MAX_DELAYED_BYTES) this.flush()
    else this.#delayTimer ??= setTimeout(() => this.flush(), MAX_APPLY_DELAY_MS)
    return this.#pendingBytes >= MAX_PENDING_BYTES ? this.#running : undefined
  }

  /** What has come is awaited by now. */
  flush(): void {
    this.#cancelDelay()
    this.#dueSequence = this.#inbox.at(-1)?.seq ?? 0
    if (this.#dueSequence > 0) this.#running ??= this.#run()
  }

  /** Ends after what is being applied, and keeps how far it came. */
  async end(): Promise<void> {
    this.#isEnded = true
    this.#inbox = []
    this.#cancelDelay()
    this.#ending.abort()
    await this.#running
    if (this.#unsavedFrames > 0)
      await this.#options.stateMachine.apply([], this.#sequencer.getPosition()).catch(() => {})
  }

  async #run(): Promise<void> {
    // What else this turn brings comes along; and whoever started this has it before it ends.
    await undefined
    while (this.#inbox.length > 0 && this.#inbox[0]!.seq <= this.#dueSequence) {
      const frames = this.#sequenceInbox()
      if (!frames) break
      if (frames.length > 0 && !(await this.#apply(frames))) break
    }
    this.#running = undefined
  }

  /** Nothing where what has come must not be applied. */
  #sequenceInbox(): FrameDecisions[] | undefined {
    const frames: FrameDecisions[] = []
    let bytes = 0
    let count = 0
    try {
      while (count < this.#inbox.length && bytes < MAX_BATCH_BYTES && frames.length < MAX_BATCH_FRAMES) {
        const message = this.#inbox[count++]!
        bytes += message.data.length
        const frame = this.#assembler.addMessage(message)
        if (frame) frames.push({ frame, decisions: this.#sequencer.acceptFrame(frame) })
      }
    } catch (error) {
      return this.#stopOnError(error as Error, this.#inbox[count - 1]!.seq)
    }
    this.#inbox.splice(0, count)
    this.#pendingBytes -= bytes
    return frames
  }

  #cancelDelay(): void {
    clearTimeout(this.#delayTimer)
    this.#delayTimer = undefined
  }

  #stopOnError(error: Error, seq: number): undefined {
    this.#options.onFatal(error, seq)
    this.#isEnded = true
    this.#inbox = []
    this.#cancelDelay()
    this.#unsavedFrames = 0
  }

  /** Resolves with whether to go on. */
  async #apply(frames: readonly FrameDecisions[]): Promise<boolean> {
    const entries = frames.flatMap(({ decisions: verdicts = [] }) =>
      verdicts.flatMap((decision): LogEntry[] => (decision.kind === 'applied' ? [decision.entry] : [])),
    )
    let outcomes: unknown[] = []
    this.#unsavedFrames += frames.length
    if (entries.length > 0 || this.#unsavedFrames >= MAX_UNSAVED_FRAMES) {
      const applied = await this.#applyWithRetry(entries)
      if (!applied) {
        // The position of what was not applied must not be kept.
        this.#unsavedFrames = 0
        return false
      }
      outcomes = applied
      this.#unsavedFrames = 0
    }
    this.#report(frames, outcomes)
    return true
  }

  /** Until the view takes them; nothing where it ends before. */
  async #applyWithRetry(entries: readonly LogEntry[]): Promise<unknown[] | undefined> {
    const position = this.#sequencer.getPosition()
    for (;;) {
      try {
        return await this.#options.stateMachine.apply(entries, position)
      } catch (error) {
        const { code, seq = position.seq } = error as FrameError
        if (code === 'LOG_FORMAT_UNKNOWN' || code === 'LOG_DAMAGED') return this.#stopOnError(error as Error, seq)
        this.#options.onRetry(error)
        const { signal } = this.#ending
        await delay(RETRY_DELAY_MS, undefined, { signal }).catch(() => {})
        if (signal.aborted) return undefined
      }
    }
  }

  #report(frames: readonly FrameDecisions[], outcomes: readonly unknown[]): void {
    this.#options.onAdvance(frames.at(-1)!.frame.seq)
    let reported = 0
    for (const { frame, decisions: verdicts } of frames) {
      if (!verdicts) {
        this.#options.onRefused(frame)
        continue
      }
      const applied = verdicts.filter(({ kind }) => kind === 'applied').length
      for (const decision of verdicts)
        if (decision.kind === 'lease') this.#options.onLease(decision.lease, this.#sequencer.at)
      this.#options.onApplied(frame, verdicts, outcomes.slice(reported, reported + applied))
      reported += applied
    }
  }
}

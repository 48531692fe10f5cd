import { retry } from '@influencer-stats/runtime/async/retry'
import type { LogIdentity } from './stream/verify-stream.ts'
import { FrameError } from '../errors.ts'
import {
  FrameAssembler,
  type LogMessage,
  type OnSkip,
  type SequencedFrame,
  type SkippedMessage,
} from '../order/frame-assembler.ts'
import { Sequencer, type EntryDecision } from '../order/sequencer.ts'
import type { LogEntry, LeaseState, LogPosition, StateMachine } from '../log.ts'

export interface ApplierOptions {
  readonly stateMachine: StateMachine
  readonly start: LogPosition
  /**
   * True if a caller of this node may wait for the message. Other messages are applied some ms later, in larger
   * batches.
   */
  isAwaited(message: LogMessage): boolean
  /**
   * Called after a frame is applied.
   * @param decisions one for each entry of the frame
   * @param outcomes results of the state machine for the entries with the decision `applied`
   */
  onApplied(frame: SequencedFrame, decisions: readonly EntryDecision[], outcomes: readonly unknown[]): void
  /** Called for a frame that every node ignores, because its number is not the next one of its writer. */
  onIgnored(frame: SequencedFrame): void
  /** Called for messages that every node skips, because they are no part of a frame. */
  readonly onSkip?: OnSkip | undefined
  /** Called when all entries up to `seq` are applied. */
  onAdvance(seq: number): void
  /**
   * Called for each request for the lease.
   * @param lease state after the request
   * @param at log's time (ms since 1970)
   */
  onLease(lease: LeaseState, at: number): void
  /** Called when the state machine cannot store a batch, before the next attempt. */
  onRetry(error: unknown): void
  /** Called if the log must not be applied further. @param seq sequence with the fault */
  onFatal(error: Error, seq: number): void
}

// Maximum size of a batch. Larger batches did not make catching up faster.
const MAX_BATCH_BYTES = 4 * 1_024 * 1_024
const MAX_BATCH_FRAMES = 1_024
/** Size of the pending messages at which the reader stops fetching (bytes). */
const MAX_PENDING_BYTES = 16 * 1_024 * 1_024
// Limits for messages without a waiting caller. These messages are delayed because the fixed cost of one call of
// `apply` equals the cost of several frames.
const MAX_APPLY_DELAY_MS = 8
/** Size of the pending messages above which all of them are applied at once (bytes). */
const MAX_DELAYED_BYTES = 256 * 1_024
/**
 * Maximum number of frames without an entry for the state machine, until the position is stored nevertheless. After a
 * crash the node reads these frames again.
 */
const MAX_UNSAVED_FRAMES = 256
/** Delay after a failed call of `apply` before the state machine receives the same batch again (ms). */
const RETRY_DELAY_MS = 500

/** Frame, or skipped message, with the decisions about its entries. They are reported once its batch is applied. */
interface FrameDecisions {
  readonly frame: SequencedFrame | SkippedMessage
  /** Undefined if the frame does not count. */
  readonly decisions: EntryDecision[] | undefined
}

/** Reason why the log must not be applied further than the frames before `seq`. */
interface LogFault {
  readonly error: Error
  readonly seq: number
}

/**
 * Passes the entries of the log to the state machine, in batches. A batch has the pending frames, up to a maximum size.
 */
export class Applier {
  readonly #options: ApplierOptions
  readonly #assembler: FrameAssembler
  #sequencer: Sequencer
  #inbox: LogMessage[] = []
  #pendingBytes = 0
  /** Messages up to this sequence are applied without a further delay. */
  #dueSequence = 0
  #delayTimer: NodeJS.Timeout | undefined
  #unsavedFrames = 0
  #running: Promise<void> | undefined
  readonly #ending = new AbortController()

  constructor(options: ApplierOptions) {
    this.#options = options
    this.#assembler = new FrameAssembler(options.onSkip)
    this.#sequencer = new Sequencer(options.start)
  }

  /** Epoch, and sequence and checksum of the last frame that was passed to the sequencer. */
  get identity(): LogIdentity {
    return this.#sequencer.identity
  }

  /**
   * Adds messages in their order. If it returns a promise, the caller must wait for the promise before the next call.
   */
  enqueue(messages: readonly LogMessage[]): Promise<void> | undefined {
    if (this.#ending.signal.aborted) return undefined
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

  /** Applies the pending messages without a further delay. */
  flush(): void {
    this.#cancelDelay()
    this.#dueSequence = this.#inbox.at(-1)?.seq ?? 0
    if (this.#dueSequence > 0) this.#running ??= this.#run()
  }

  /** Ends after the batch in progress. Stores the position if frames without an entry changed it. */
  async end(): Promise<void> {
    this.#stop()
    await this.#running
    if (this.#unsavedFrames > 0)
      await this.#options.stateMachine.apply([], this.#sequencer.getPosition()).catch(() => {})
  }

  async #run(): Promise<void> {
    // Messages that are added before the next microtask join the batch. The wait also ensures that `#running` is set
    // before the run ends and clears it.
    await undefined
    while (this.#inbox.length > 0 && this.#inbox[0]!.seq <= this.#dueSequence) {
      const before = this.#sequencer.getPosition()
      const { frames, fault } = this.#sequenceInbox(before)
      if (frames.length > 0 && !(await this.#apply(frames, before))) break
      if (fault) this.#stopOnFault(fault)
    }
    this.#running = undefined
  }

  /**
   * Takes the frames of one batch from the pending messages, up to the first fault.
   * @param before position before the batch
   */
  #sequenceInbox(before: LogPosition): { readonly frames: readonly FrameDecisions[]; readonly fault?: LogFault } {
    const frames: FrameDecisions[] = []
    let bytes = 0
    let count = 0
    try {
      while (count < this.#inbox.length && bytes < MAX_BATCH_BYTES && frames.length < MAX_BATCH_FRAMES) {
        const message = this.#inbox[count++]!
        bytes += message.data.length
        const frame = this.#assembler.addMessage(message)
        if (frame) frames.push(this.#decide(frame))
      }
    } catch (error) {
      return {
        frames: this.#decideAgain(frames, before),
        fault: { error: error as Error, seq: this.#inbox[count - 1]!.seq },
      }
    }
    this.#inbox.splice(0, count)
    this.#pendingBytes -= bytes
    return { frames }
  }

  #decide(frame: SequencedFrame | SkippedMessage): FrameDecisions {
    if (frame.writer !== undefined) return { frame, decisions: this.#sequencer.acceptFrame(frame) }
    this.#sequencer.skipMessage(frame)
    return { frame, decisions: undefined }
  }

  /** Returns to a position, and repeats the decisions about the frames after it. They are the same as before. */
  #decideAgain(frames: readonly FrameDecisions[], before: LogPosition): FrameDecisions[] {
    this.#sequencer = new Sequencer(before)
    return frames.map(({ frame }) => this.#decide(frame))
  }

  #cancelDelay(): void {
    clearTimeout(this.#delayTimer)
    this.#delayTimer = undefined
  }

  #stopOnFault({ error, seq }: LogFault): void {
    this.#options.onFatal(error, seq)
    this.#stop()
  }

  #stop(): void {
    this.#ending.abort()
    this.#inbox = []
    this.#cancelDelay()
  }

  /**
   * Applies a batch. If the state machine refuses one of its frames, those before it are applied nevertheless.
   * @param before position before the batch
   * @returns true if the applier may continue
   */
  async #apply(frames: readonly FrameDecisions[], before: LogPosition): Promise<boolean> {
    const entries = frames.flatMap(({ decisions = [] }) =>
      decisions.flatMap((decision): LogEntry[] => (decision.kind === 'applied' ? [decision.entry] : [])),
    )
    let outcomes: unknown[] = []
    this.#unsavedFrames += frames.length
    if (entries.length > 0 || this.#unsavedFrames >= MAX_UNSAVED_FRAMES) {
      const applied = await this.#applyWithRetry(entries)
      // The position after a failed batch must not be stored: with 0, `end` stores none.
      this.#unsavedFrames = 0
      if (!applied) return false
      if (applied instanceof FrameError) {
        const { seq = frames.at(-1)!.frame.seq } = applied
        const valid = this.#decideAgain(
          frames.filter(({ frame }) => frame.seq < seq),
          before,
        )
        if (valid.length === 0 || (await this.#apply(valid, before))) this.#stopOnFault({ error: applied, seq })
        return false
      }
      outcomes = applied
    }
    this.#report(frames, outcomes)
    return true
  }

  /**
   * Retries until the state machine applies the entries, or throws a `FrameError`, with which it then resolves. Resolves
   * with undefined if the applier ends before.
   */
  async #applyWithRetry(entries: readonly LogEntry[]): Promise<unknown[] | FrameError | undefined> {
    const position = this.#sequencer.getPosition()
    const apply = () =>
      this.#options.stateMachine.apply(entries, position).catch((error: unknown) => {
        if (error instanceof FrameError) return error
        throw error
      })
    return retry(apply, {
      signal: this.#ending.signal,
      delays: { next: () => RETRY_DELAY_MS },
      onFault: (error) => this.#options.onRetry(error),
    })
  }

  #report(frames: readonly FrameDecisions[], outcomes: readonly unknown[]): void {
    this.#options.onAdvance(frames.at(-1)!.frame.seq)
    let reported = 0
    for (const { frame, decisions } of frames) {
      if (frame.writer === undefined) continue
      if (!decisions) {
        this.#options.onIgnored(frame)
        continue
      }
      const applied = decisions.filter(({ kind }) => kind === 'applied').length
      for (const decision of decisions)
        if (decision.kind === 'lease') this.#options.onLease(decision.lease, this.#sequencer.at)
      this.#options.onApplied(frame, decisions, outcomes.slice(reported, reported + applied))
      reported += applied
    }
  }
}

import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { encodeFrame, FRAME_OVERHEAD_BYTES, canBeFrom, getEntrySize, type FrameEntry } from '../order/frame.ts'
import type { LogMessage, SequencedFrame } from '../order/frame-assembler.ts'
import type { EntryDecision } from '../order/sequencer.ts'
import { createOutcomeUnknownError, createUnavailableError } from '../errors.ts'
import { AppendGroup } from '../append-group.ts'
import type { AppendResult } from '../log.ts'
import type { SendResult } from './sender.ts'

export interface LogWriterOptions {
  /** Maximum size of a message, and of a frame (bytes). */
  readonly maxMessageBytes: number
  readonly maxFrameBytes: number
  /** Timeout of an append (ms). */
  readonly timeout: number
  /** Time that a stored append waits for the state machine (ms); by default the rest of `timeout`. */
  readonly applyTimeout?: number | undefined
  /** True while there is a connection. */
  isUp(): boolean
  send(parts: readonly Buffer[]): Promise<SendResult>
  /** Called when a frame is stored at `seq`, so the reader will receive it. */
  onStored(seq: number): void
}

/** Maximum size of the queue while the log is unreachable (bytes). */
const MAX_QUEUE_BYTES = 256 * 1_024 * 1_024
/** The next frame waits until this share of the previous callers has returned, at most for `MAX_GATHER_MS`. */
const RETURNED_CALLERS_RATIO = 0.9
const MAX_GATHER_MS = 50
/** Time since the last frame after which its callers are no longer expected to return (ms). */
const MAX_IDLE_MS = 100
const MIN_RETRY_DELAY_MS = 20
const MAX_RETRY_DELAY_MS = 500

/**
 * Sends the entries of this node, one frame at a time: concurrent frames were not faster. A frame without an
 * acknowledgement is sent again unchanged, and nodes count it once. After the timeout, the callers get LOG_UNAVAILABLE
 * if it was never sent, otherwise OUTCOME_UNKNOWN.
 */
export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #groups: AppendGroup[] = []
  /** Groups that are sent but not applied by this node yet, by the keys of their frames. */
  readonly #inFlight = new Map<string, AppendGroup>()
  #id = createWriterId()
  #number = 0
  #queuedBytes = 0
  #running: Promise<void> | undefined
  #isClosed = false
  #retryNow: (() => void) | undefined
  #onQueued: (() => void) | undefined
  /** Last acknowledged frame: callers waiting for it or the next one, time of the acknowledgement, duration (ms). */
  #lastFrame = { waiterCount: 0, at: 0, duration: 0 }

  constructor(options: LogWriterOptions) {
    this.#options = options
  }

  /** @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN */
  append(entry: FrameEntry, waiters = 1): Promise<AppendResult<any>> {
    const entryBytes = getEntrySize(entry)
    if (this.#isClosed || this.#queuedBytes + entryBytes > MAX_QUEUE_BYTES)
      return Promise.reject(createUnavailableError())
    const last = this.#groups.at(-1)
    // Entries share a frame only while it fits into one message. A larger frame goes in parts, which takes another round
    // trip, so only an entry that exceeds a message by itself uses parts.
    const isFitting =
      last && (last.bytes === 0 || last.bytes + entryBytes + FRAME_OVERHEAD_BYTES <= this.#options.maxMessageBytes)
    this.#queuedBytes += entryBytes
    const appended = (isFitting ? last : this.#openGroup()).append(entry, waiters)
    this.#onQueued?.()
    return appended
  }

  barrier(waiters = 1): Promise<number> {
    if (this.#isClosed) return Promise.reject(createUnavailableError())
    const barrier = (this.#groups.at(-1) ?? this.#openGroup()).barrier(waiters)
    this.#onQueued?.()
    return barrier
  }

  /** Retries at once. Called after a reconnection. */
  retryNow(): void {
    this.#retryNow?.()
  }

  /** True if a caller of this node may wait for the message: it may be part of a frame of this node. */
  isAwaiting({ data }: LogMessage): boolean {
    return this.#inFlight.size > 0 && canBeFrom(this.#id, data)
  }

  /** Called after a frame of any node is applied. */
  onApplied(frame: SequencedFrame, decisions: readonly EntryDecision[], outcomes: readonly unknown[]): void {
    this.#removeGroup(frame)?.settle(frame.seq, decisions, outcomes)
  }

  /**
   * Called for a frame of any node that is in the log but does not count. A copy needs no action, because the first one
   * counted. Otherwise this writer was idle until it expired, or its previous frame was lost. Then no frame with this
   * writer id counts any more, and the group is sent again under a new one.
   */
  onRefused(frame: SequencedFrame): void {
    const group = this.#removeGroup(frame)
    if (!group) return
    if (frame.writer === this.#id) this.#renewWriterId()
    this.#queuedBytes += group.bytes
    this.#groups.unshift(group)
    this.#running ??= this.#run()
  }

  #removeGroup({ writer, number }: SequencedFrame): AppendGroup | undefined {
    const key = toFrameKey(writer, number)
    const group = this.#inFlight.get(key)
    this.#inFlight.delete(key)
    return group
  }

  /** Rejects the waiting calls. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#retryNow?.()
    this.#onQueued?.()
    for (const group of this.#groups.splice(0)) group.fail(createUnavailableError())
    for (const group of this.#inFlight.values()) group.fail(createOutcomeUnknownError())
    this.#inFlight.clear()
    await this.#running
  }

  #openGroup(): AppendGroup {
    const group = new AppendGroup()
    this.#groups.push(group)
    this.#running ??= this.#run()
    return group
  }

  async #run(): Promise<void> {
    // Runs after the event loop has read all requests of this turn.
    await turn()
    while (this.#groups.length > 0) {
      await this.#awaitReturningCallers()
      const group = this.#groups.shift()
      // The writer was closed meanwhile.
      if (!group) break
      const startedAt = performance.now()
      await this.#send(group)
      const at = performance.now()
      this.#lastFrame = { waiterCount: group.waiterCount + this.#waiterCount(), at, duration: at - startedAt }
    }
    this.#running = undefined
  }

  /** Returns the number of callers with entries or barriers in the queue. */
  #waiterCount(): number {
    return this.#groups.reduce((sum, { waiterCount }) => sum + waiterCount, 0)
  }

  /**
   * Callers with a response send their next requests later than callers that are already queued, and not all at once.
   * Without a delay, alternating frames would each have a part of the callers, and a frame costs the same as 40 writes.
   * The delay starts with the first queued request, and is at most the duration of the previous frame (and 50 ms). A
   * single client is never delayed.
   */
  async #awaitReturningCallers(): Promise<void> {
    const { waiterCount: size, at, duration: took } = this.#lastFrame
    if (size < 2 || performance.now() - at > MAX_IDLE_MS) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onQueued = () => {
      if (this.#isClosed || this.#groups.length > 1 || this.#waiterCount() >= RETURNED_CALLERS_RATIO * size) resolve()
    }
    this.#onQueued()
    const timer = setTimeout(resolve, Math.min(took, MAX_GATHER_MS))
    await promise
    clearTimeout(timer)
    this.#onQueued = undefined
    // Other requests of this turn join the frame.
    await turn()
  }

  async #send(group: AppendGroup): Promise<void> {
    this.#queuedBytes -= group.bytes
    if (group.bytes > this.#options.maxFrameBytes)
      return group.fail(new RangeError(`the entries exceed ${this.#options.maxFrameBytes} bytes`))
    const number = ++this.#number
    const id = this.#id
    const key = toFrameKey(id, number)
    const parts = encodeFrame({ writer: id, number, entries: group.entries }, this.#options.maxMessageBytes)
    this.#inFlight.set(key, group)
    const deadline = group.createdAt + this.#options.timeout
    let isPossiblyStored = false
    let cause: unknown
    for (
      let wait = MIN_RETRY_DELAY_MS;
      performance.now() < deadline && !group.isSettled;
      wait = Math.min(2 * wait, MAX_RETRY_DELAY_MS)
    ) {
      if (this.#isClosed) break
      if (this.#options.isUp()) {
        const inFlight = await Promise.race([this.#options.send(parts), group.settled])
        if (!inFlight) return
        if (inFlight.kind === 'stored') return this.#awaitApplied(group, key, inFlight.seq, deadline)
        isPossiblyStored ||= inFlight.kind === 'unknown'
        cause = inFlight.cause
      }
      await this.#pause(wait, group)
    }
    if (group.isSettled) return
    this.#inFlight.delete(key)
    if (isPossiblyStored) {
      // The frame may still appear in the log: later frames of this node must not depend on it.
      this.#renewWriterId()
      group.fail(createOutcomeUnknownError(cause))
    } else {
      this.#number = number - 1
      group.fail(createUnavailableError(cause))
    }
  }

  /** Waits until this node applies a stored frame, which may be impossible at present. */
  #awaitApplied(group: AppendGroup, key: string, seq: number, deadline: number): void {
    this.#options.onStored(seq)
    if (group.isSettled) return
    const timer = setTimeout(
      () => {
        this.#inFlight.delete(key)
        group.fail(createOutcomeUnknownError())
      },
      this.#options.applyTimeout ?? Math.max(0, deadline - performance.now()),
    )
    void group.settled.then(() => clearTimeout(timer))
  }

  async #pause(ms: number, group: AppendGroup): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#retryNow = resolve
    await Promise.race([promise, group.settled])
    this.#retryNow = undefined
    clearTimeout(timer)
  }

  #renewWriterId(): void {
    this.#id = createWriterId()
    this.#number = 0
  }
}

const toFrameKey = (writer: string, number: number) => `${writer}.${number}`

const createWriterId = () => randomBytes(8).toString('hex')

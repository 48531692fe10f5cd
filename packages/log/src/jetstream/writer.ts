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
  /** Maximum size of a message (bytes). It changes if a server of another `max_payload` accepts the connection. */
  readonly maxMessageBytes: number
  /** Maximum size of the entries of a frame, which may take several messages (bytes). */
  readonly maxFrameBytes: number
  /** Timeout of an append (ms). */
  readonly timeout: number
  /**
   * Maximum time from the storage of a frame until this node has applied it (ms); by default what remains of `timeout`.
   */
  readonly applyTimeout?: number | undefined
  /** True while there is a connection. */
  isUp(): boolean
  send(parts: readonly Buffer[]): Promise<SendResult>
  /** Called when the log has stored a frame at `seq`. The reader must deliver it, by a fetch if necessary. */
  onStored(seq: number): void
}

/** Maximum size of the queue of entries, which grows while the log is unreachable (bytes). */
const MAX_QUEUE_BYTES = 256 * 1_024 * 1_024
/**
 * The next frame waits until this share of the last frame's callers has queued a new request, but at most for
 * `MAX_GATHER_MS`.
 */
const RETURNED_CALLERS_RATIO = 0.9
const MAX_GATHER_MS = 50
/** Time since the last frame after which the writer no longer waits for that frame's callers (ms). */
const MAX_IDLE_MS = 100
// Bounds of the delay before a frame is sent again. The delay doubles with each attempt.
const MIN_RETRY_DELAY_MS = 20
const MAX_RETRY_DELAY_MS = 500

/**
 * Sends the entries of this node to the log, one frame at a time: concurrent frames were not faster. Without an
 * acknowledgement, it sends the same frame again; all nodes ignore the copies. After the timeout, the callers get
 * LOG_UNAVAILABLE if the frame was never sent, otherwise OUTCOME_UNKNOWN.
 */
export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #groups: AppendGroup[] = []
  /** Groups that are sent but not applied by this node yet, by the keys of their frames. */
  readonly #inFlight = new Map<string, AppendGroup>()
  #id = createWriterId()
  /** Number of the last frame with this writer id. */
  #number = 0
  #queuedBytes = 0
  #running: Promise<void> | undefined
  #isClosed = false
  #retryNow: (() => void) | undefined
  #onQueued: (() => void) | undefined
  /**
   * Last frame: number of callers that, at its end, waited for it or for the next one; time of its end (ms of
   * `performance.now`); its duration (ms).
   */
  #lastFrame = { callers: 0, endedAt: 0, duration: 0 }

  constructor(options: LogWriterOptions) {
    this.#options = options
  }

  /**
   * Appends an entry. Resolves when this node has applied it.
   * @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LEASE_LOST; RangeError if the entry exceeds `maxFrameBytes`
   */
  append(entry: FrameEntry, waiters = 1): Promise<AppendResult<any>> {
    const entryBytes = getEntrySize(entry)
    if (this.#isClosed || this.#queuedBytes + entryBytes > MAX_QUEUE_BYTES)
      return Promise.reject(createUnavailableError())
    const last = this.#groups.at(-1)
    // Entries share a frame only if it fits into one message. Several messages take another round trip, so only an
    // entry that alone exceeds a message is sent in parts.
    const isFitting =
      last && (last.bytes === 0 || last.bytes + entryBytes + FRAME_OVERHEAD_BYTES <= this.#options.maxMessageBytes)
    this.#queuedBytes += entryBytes
    const appended = (isFitting ? last : this.#openGroup()).append(entry, waiters)
    this.#onQueued?.()
    return appended
  }

  /**
   * Resolves with a sequence up to which this node has applied all entries, including those that the log stored before
   * the call.
   * @throws LOG_UNAVAILABLE
   */
  barrier(waiters = 1): Promise<number> {
    if (this.#isClosed) return Promise.reject(createUnavailableError())
    const barrier = (this.#groups.at(-1) ?? this.#openGroup()).barrier(waiters)
    this.#onQueued?.()
    return barrier
  }

  /** Ends the delay before the next attempt. Called after a reconnection. */
  retryNow(): void {
    this.#retryNow?.()
  }

  /** True if a caller of this node may wait for the message, because it may be a part of this node's frame. */
  isAwaiting({ data }: LogMessage): boolean {
    return this.#inFlight.size > 0 && canBeFrom(this.#id, data)
  }

  /** Called after a frame of any node is applied. */
  onApplied(frame: SequencedFrame, decisions: readonly EntryDecision[], outcomes: readonly unknown[]): void {
    this.#removeGroup(frame)?.settle(frame.seq, decisions, outcomes)
  }

  /**
   * Called for a frame of any node that is in the log but that all nodes ignore. A copy needs no action, because the
   * first one was applied. Otherwise the writer id expired, or its previous frame was lost. Then all later frames with
   * this id are ignored, too. So the writer takes a new id and sends the entries again.
   */
  onIgnored(frame: SequencedFrame): void {
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

  /**
   * Rejects the waiting calls: appends whose frame is in progress with OUTCOME_UNKNOWN, all others with
   * LOG_UNAVAILABLE. Resolves once no frame is being sent.
   */
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
    // The caller of `#openGroup` adds its entry after this function has returned a promise.
    await undefined
    while (this.#groups.length > 0) {
      await this.#collectEntries()
      const group = this.#groups.shift()
      // The writer was closed meanwhile.
      if (!group) break
      const startedAt = performance.now()
      await this.#send(group)
      const endedAt = performance.now()
      this.#lastFrame = { callers: group.waiterCount + this.#countWaiters(), endedAt, duration: endedAt - startedAt }
    }
    this.#running = undefined
  }

  /** Returns the number of callers with entries or barriers in the queue. */
  #countWaiters(): number {
    return this.#groups.reduce((sum, { waiterCount }) => sum + waiterCount, 0)
  }

  /**
   * Delays a frame until the callers of the last frame have queued their next requests. These arrive later than the
   * requests that are already queued, and not all at once. Without the delay, the callers would split into two
   * alternating frames, and a frame costs the same as 40 writes. The delay starts when the last frame has ended and a
   * request is queued. It is at most the duration of the last frame, and at most 50 ms. A single client is never
   * delayed. The first frame after a pause gets the requests of one turn.
   */
  async #collectEntries(): Promise<void> {
    const { callers, endedAt, duration } = this.#lastFrame
    if (performance.now() - endedAt > MAX_IDLE_MS) return void (await turn())
    if (callers < 2) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onQueued = () => {
      if (this.#isClosed || this.#groups.length > 1 || this.#countWaiters() >= RETURNED_CALLERS_RATIO * callers)
        resolve()
    }
    this.#onQueued()
    const timer = setTimeout(resolve, Math.min(duration, MAX_GATHER_MS))
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
    const frame = { writer: id, number, entries: group.entries }
    let { maxMessageBytes } = this.#options
    let parts = encodeFrame(frame, maxMessageBytes)
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
        // A server closes the connection at a message that is too large. After the reconnection the limit is known.
        if (this.#options.maxMessageBytes !== maxMessageBytes)
          parts = encodeFrame(frame, (maxMessageBytes = this.#options.maxMessageBytes))
        const result = await Promise.race([this.#options.send(parts), group.settled])
        // This node has applied the frame before an acknowledgement arrived.
        if (!result) return
        if (result.kind === 'stored') return this.#startApplyTimeout(group, key, result.seq, deadline)
        isPossiblyStored ||= result.kind === 'unknown'
        cause = result.cause
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

  /** Rejects the group if this node does not apply its stored frame in time, for example because its disk is full. */
  #startApplyTimeout(group: AppendGroup, key: string, seq: number, deadline: number): void {
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

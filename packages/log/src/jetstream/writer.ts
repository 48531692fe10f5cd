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
  /** Largest message, and largest frame (bytes). */
  readonly maxMessageBytes: number
  readonly maxFrameBytes: number
  /** An append waits for so long (ms). */
  readonly timeout: number
  /** What the log has waits for the own view for so long (ms): by default no longer. */
  readonly applyTimeout?: number | undefined
  /** Whether there is a connection at present. */
  isUp(): boolean
  send(parts: readonly Buffer[]): Promise<SendResult>
  /** A frame is at this place, so it will come. */
  onStored(seq: number): void
}

/** Most that waits to be sent (bytes): behind a log that cannot be reached. */
const MAX_QUEUE_BYTES = 256 * 1_024 * 1_024
/** Those who were answered are waited for until so many of them are there again, and so long at most (ms). */
const RETURNED_CALLERS_RATIO = 0.9
const MAX_GATHER_MS = 50
/** Who has not come back after so long (ms) does not. */
const MAX_IDLE_MS = 100
const MIN_RETRY_DELAY_MS = 20
const MAX_RETRY_DELAY_MS = 500

/**
 * Sends what this node appends, a frame at a time: more at a time gained nothing. A frame that was not acknowledged is
 * sent again, as it was; nodes count it once. When the time is over, who waits is told what is known: that it was never
 * sent, or that nobody can tell.
 */
export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #groups: AppendGroup[] = []
  /** Sent, and not seen in the own view yet: by their frames. */
  readonly #inFlight = new Map<string, AppendGroup>()
  #id = createWriterId()
  #number = 0
  #queuedBytes = 0
  #running: Promise<void> | undefined
  #isClosed = false
  #retryNow: (() => void) | undefined
  #onQueued: (() => void) | undefined
  /** So many waited when a frame was answered last, for it and for the next; when that was, and how long it took (ms). */
  #lastFrame = { waiterCount: 0, at: 0, duration: 0 }

  constructor(options: LogWriterOptions) {
    this.#options = options
  }

  /** @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN */
  append(entry: FrameEntry, waiters = 1): Promise<AppendResult<any>> {
    const waiterCount = getEntrySize(entry)
    if (this.#isClosed || this.#queuedBytes + waiterCount > MAX_QUEUE_BYTES)
      return Promise.reject(createUnavailableError())
    const last = this.#groups.at(-1)
    // What fits into one message is one: only what is larger by itself goes in parts, which takes another round trip.
    const isFitting =
      last && (last.bytes === 0 || last.bytes + waiterCount + FRAME_OVERHEAD_BYTES <= this.#options.maxMessageBytes)
    this.#queuedBytes += waiterCount
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

  /** The connection is back. */
  retryNow(): void {
    this.#retryNow?.()
  }

  /** Whether somebody here waits for what the message brings: it may be this node's own. */
  isAwaiting({ data }: LogMessage): boolean {
    return this.#inFlight.size > 0 && canBeFrom(this.#id, data)
  }

  /** A frame of any node was applied. */
  onApplied(frame: SequencedFrame, decisions: readonly EntryDecision[], outcomes: readonly unknown[]): void {
    this.#removeGroup(frame)?.settle(frame.seq, decisions, outcomes)
  }

  /**
   * A frame of any node stands in the log and does not count. A copy is no matter: the first one did. Else this node was
   * silent for so long that it was forgotten, or the frame before was lost: nothing of this name counts any more.
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

  /** Fails what waits. */
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
    // After all that the loop reads in this turn.
    await turn()
    while (this.#groups.length > 0) {
      await this.#awaitReturningCallers()
      const group = this.#groups.shift()
      // It was closed meanwhile.
      if (!group) break
      const startedAt = performance.now()
      await this.#send(group)
      const at = performance.now()
      this.#lastFrame = { waiterCount: group.waiterCount + this.#waiterCount(), at, duration: at - startedAt }
    }
    this.#running = undefined
  }

  /** How many wait to be sent. */
  #waiterCount(): number {
    return this.#groups.reduce((sum, { waiterCount }) => sum + waiterCount, 0)
  }

  /**
   * Who was answered comes back with the next, later than who came meanwhile, and not all at once: without waiting they
   * would go in frames of parts of them, by turns, and a frame costs as much as forty writes. Waits from when the first is
   * there, no longer than the frame before took. Who is alone is not kept waiting.
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
    // What else this turn brings comes along.
    await turn()
  }

  async #send(group: AppendGroup): Promise<void> {
    this.#queuedBytes -= group.bytes
    if (group.bytes > this.#options.maxFrameBytes)
      return group.fail(new RangeError(`over ${this.#options.maxFrameBytes} bytes`))
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
      // It may come yet: what this node says from now on must not depend on it.
      this.#renewWriterId()
      group.fail(createOutcomeUnknownError(cause))
    } else {
      this.#number = number - 1
      group.fail(createUnavailableError(cause))
    }
  }

  /** The log has it. The own view may still be unable to apply it. */
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

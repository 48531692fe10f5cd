import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { encodeFrame, FRAME_OVERHEAD, mayBeOf, sizeOf, type FrameEntry } from '../order/frame.ts'
import type { Message, PlacedFrame } from '../order/joiner.ts'
import type { Verdict } from '../order/order.ts'
import { outcomeUnknown, unavailable } from '../errors.ts'
import { Group } from '../group.ts'
import type { Appended } from '../log.ts'
import type { Sent } from './sender.ts'

export interface WriterOptions {
  /** Largest message, and largest frame (bytes). */
  readonly maxMessage: number
  readonly maxFrame: number
  /** An append waits for so long (ms). */
  readonly timeout: number
  /** What the log has waits for the own view for so long (ms): by default no longer. */
  readonly viewTimeout?: number | undefined
  /** Whether there is a connection at present. */
  isUp(): boolean
  send(parts: readonly Buffer[]): Promise<Sent>
  /** A frame is at this place, so it will come. */
  onStored(seq: number): void
}

/** Most that waits to be sent (bytes): behind a log that cannot be reached. */
const MAX_QUEUE_BYTES = 256 * 1_024 * 1_024
/** Those who were answered are waited for until so many of them are there again, and so long at most (ms). */
const ENOUGH = 0.9
const MOST_GATHERING = 50
/** Who has not come back after so long (ms) does not. */
const GONE_AFTER = 100
const RETRY_FIRST = 20
const RETRY_MOST = 500

/**
 * Sends what this node appends, a frame at a time: more at a time gained nothing. A frame that was not acknowledged is
 * sent again, as it was; nodes count it once. When the time is over, who waits is told what is known: that it was never
 * sent, or that nobody can tell.
 */
export class Writer {
  readonly #options: WriterOptions
  readonly #groups: Group[] = []
  /** Sent, and not seen in the own view yet: by their frames. */
  readonly #sent = new Map<string, Group>()
  #id = newId()
  #number = 0
  #queued = 0
  #running: Promise<void> | undefined
  #isClosed = false
  #wake: (() => void) | undefined
  #came: (() => void) | undefined
  /** So many waited when a frame was answered last, for it and for the next; when that was, and how long it took (ms). */
  #crowd = { size: 0, at: 0, took: 0 }

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN */
  append(entry: FrameEntry, waiting = 1): Promise<Appended<any>> {
    const size = sizeOf(entry)
    if (this.#isClosed || this.#queued + size > MAX_QUEUE_BYTES) return Promise.reject(unavailable())
    const last = this.#groups.at(-1)
    // What fits into one message is one: only what is larger by itself goes in parts, which takes another round trip.
    const fits = last && (last.bytes === 0 || last.bytes + size + FRAME_OVERHEAD <= this.#options.maxMessage)
    this.#queued += size
    const appended = (fits ? last : this.#open()).append(entry, waiting)
    this.#came?.()
    return appended
  }

  barrier(waiting = 1): Promise<number> {
    if (this.#isClosed) return Promise.reject(unavailable())
    const passed = (this.#groups.at(-1) ?? this.#open()).barrier(waiting)
    this.#came?.()
    return passed
  }

  /** The connection is back. */
  wake(): void {
    this.#wake?.()
  }

  /** Whether somebody here waits for what the message brings: it may be this node's own. */
  awaits({ data }: Message): boolean {
    return this.#sent.size > 0 && mayBeOf(this.#id, data)
  }

  /** A frame of any node was applied. */
  applied(frame: PlacedFrame, verdicts: readonly Verdict[], outcomes: readonly unknown[]): void {
    this.#take(frame)?.settle(frame.seq, verdicts, outcomes)
  }

  /**
   * A frame of any node stands in the log and does not count. A copy is no matter: the first one did. Else this node was
   * silent for so long that it was forgotten, or the frame before was lost: nothing of this name counts any more.
   */
  refused(frame: PlacedFrame): void {
    const group = this.#take(frame)
    if (!group) return
    if (frame.writer === this.#id) this.#rename()
    this.#queued += group.bytes
    this.#groups.unshift(group)
    this.#running ??= this.#run()
  }

  #take({ writer, number }: PlacedFrame): Group | undefined {
    const key = keyOf(writer, number)
    const group = this.#sent.get(key)
    this.#sent.delete(key)
    return group
  }

  /** Fails what waits. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake?.()
    this.#came?.()
    for (const group of this.#groups.splice(0)) group.fail(unavailable())
    for (const group of this.#sent.values()) group.fail(outcomeUnknown())
    this.#sent.clear()
    await this.#running
  }

  #open(): Group {
    const group = new Group()
    this.#groups.push(group)
    this.#running ??= this.#run()
    return group
  }

  async #run(): Promise<void> {
    // After all that the loop reads in this turn.
    await turn()
    while (this.#groups.length > 0) {
      await this.#gather()
      const group = this.#groups.shift()
      // It was closed meanwhile.
      if (!group) break
      const began = performance.now()
      await this.#send(group)
      const at = performance.now()
      this.#crowd = { size: group.size + this.#size(), at, took: at - began }
    }
    this.#running = undefined
  }

  /** How many wait to be sent. */
  #size(): number {
    return this.#groups.reduce((sum, { size }) => sum + size, 0)
  }

  /**
   * Who was answered comes back with the next, later than who came meanwhile, and not all at once: without waiting they
   * would go in frames of parts of them, by turns, and a frame costs as much as forty writes. Waits from when the first is
   * there, no longer than the frame before took. Who is alone is not kept waiting.
   */
  async #gather(): Promise<void> {
    const { size, at, took } = this.#crowd
    if (size < 2 || performance.now() - at > GONE_AFTER) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#came = () => {
      if (this.#isClosed || this.#groups.length > 1 || this.#size() >= ENOUGH * size) resolve()
    }
    this.#came()
    const timer = setTimeout(resolve, Math.min(took, MOST_GATHERING))
    await promise
    clearTimeout(timer)
    this.#came = undefined
    // What else this turn brings comes along.
    await turn()
  }

  async #send(group: Group): Promise<void> {
    this.#queued -= group.bytes
    if (group.bytes > this.#options.maxFrame) return group.fail(new RangeError(`over ${this.#options.maxFrame} bytes`))
    const number = ++this.#number
    const id = this.#id
    const key = keyOf(id, number)
    const parts = encodeFrame({ writer: id, number, entries: group.entries }, this.#options.maxMessage)
    this.#sent.set(key, group)
    const deadline = group.since + this.#options.timeout
    let maybeSent = false
    let cause: unknown
    for (
      let wait = RETRY_FIRST;
      performance.now() < deadline && !group.isSettled;
      wait = Math.min(2 * wait, RETRY_MOST)
    ) {
      if (this.#isClosed) break
      if (this.#options.isUp()) {
        const sent = await Promise.race([this.#options.send(parts), group.settled])
        if (!sent) return
        if (sent.kind === 'stored') return this.#awaitView(group, key, sent.seq, deadline)
        maybeSent ||= sent.kind === 'unknown'
        cause = sent.cause
      }
      await this.#pause(wait, group)
    }
    if (group.isSettled) return
    this.#sent.delete(key)
    if (maybeSent) {
      // It may come yet: what this node says from now on must not depend on it.
      this.#rename()
      group.fail(outcomeUnknown(cause))
    } else {
      this.#number = number - 1
      group.fail(unavailable(cause))
    }
  }

  /** The log has it. The own view may still be unable to apply it. */
  #awaitView(group: Group, key: string, seq: number, deadline: number): void {
    this.#options.onStored(seq)
    if (group.isSettled) return
    const timer = setTimeout(
      () => {
        this.#sent.delete(key)
        group.fail(outcomeUnknown())
      },
      this.#options.viewTimeout ?? Math.max(0, deadline - performance.now()),
    )
    void group.settled.then(() => clearTimeout(timer))
  }

  async #pause(ms: number, group: Group): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#wake = resolve
    await Promise.race([promise, group.settled])
    this.#wake = undefined
    clearTimeout(timer)
  }

  #rename(): void {
    this.#id = newId()
    this.#number = 0
  }
}

const keyOf = (writer: string, number: number) => `${writer}.${number}`

const newId = () => randomBytes(8).toString('hex')

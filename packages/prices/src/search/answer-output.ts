import type { MemoryHold } from '@influencer-stats/runtime/budget'
import type { ReplyOutput } from '@influencer-stats/runtime/reply-output'
import type { Writable } from 'node:stream'
import type { OutputBuffer } from './render-answer.ts'
import { createAnswerBuffer } from './searcher.ts'

/** Maximum size of the answers to a request that its client has not read (bytes). */
const MAX_UNREAD_BYTES = 67_108_864
/** Memory that is taken from the budget at a time (bytes). */
const STEP_BYTES = 1_048_576
const BUFFER_BYTES = 65_536
const MAX_POOLED_BUFFERS = 4

/**
 * A pool of answer buffers, which are reused after they are written: garbage of 0.4 MB per request makes V8 mark the
 * whole heap every few requests. Each thread has one pool.
 */
export class BufferPool {
  readonly #free: OutputBuffer[] = []

  take(): OutputBuffer {
    return this.#free.pop() ?? createAnswerBuffer(BUFFER_BYTES)
  }

  release(buffer: OutputBuffer): void {
    buffer.filled = 0
    if (this.#free.length < MAX_POOLED_BUFFERS) this.#free.push(buffer)
  }
}

export interface AnswerOutputOptions {
  readonly buffers: BufferPool
  /** Memory for answers that the client has not read. */
  readonly hold: Pick<MemoryHold, 'take' | 'releaseFirst'>
}

/**
 * The answers to one request. Many clients read no answer before they have sent all items. Therefore it collects unread
 * answers up to `MAX_UNREAD_BYTES`, while the budget has memory. Beyond that, the request waits for its client.
 */
export class AnswerOutput {
  readonly #reply: ReplyOutput
  readonly #stream: Writable
  readonly #options: AnswerOutputOptions
  /** Buffer for the next answers. */
  buffer: OutputBuffer
  #hasBegun = false
  #writeTimer: NodeJS.Immediate | undefined
  /** Size of the written answers that the client has not read (bytes). */
  #unread = 0
  /** Memory taken from the budget (bytes). */
  #held = 0
  #onRead: (() => void) | undefined
  #isClosed = false

  /** @param reply begun at the first write, or at the end of a request without items */
  constructor(reply: ReplyOutput, options: AnswerOutputOptions) {
    this.#reply = reply
    this.#stream = reply.stream
    this.#options = options
    this.buffer = options.buffers.take()
  }

  get isEmpty(): boolean {
    return !this.#hasBegun && this.buffer.filled === 0
  }

  /** Writes the answers later: more of the request often arrives meanwhile, and a write costs as much time as 50 answers. */
  writeSoon(): void {
    if (this.buffer.filled > 0) this.#writeTimer ??= setImmediate(() => this.#writeUnlessUnread())
  }

  write(): void {
    clearImmediate(this.#writeTimer)
    this.#writeTimer = undefined
    const { buffers } = this.#options
    if (!this.#hasBegun) this.#reply.begin()
    this.#hasBegun = true
    const { buffer } = this
    const { filled } = buffer
    if (filled === 0) return
    this.#unread += filled
    this.#stream.write(buffer.bytes.subarray(0, filled), () => {
      buffers.release(buffer)
      this.#countRead(filled)
    })
    this.#reply.flush()
    this.buffer = buffers.take()
  }

  /**
   * Resolves when there is memory for more answers.
   * @throws Error if the client disconnects
   */
  async waitForSpace(): Promise<void> {
    const stream = this.#stream
    if (!stream.writableNeedDrain || this.#hold()) return
    const enough = this.#held / 2
    await new Promise<void>((resolve) => {
      this.#onRead = () => {
        if (this.#unread > enough && !stream.destroyed) return
        this.#onRead = undefined
        stream.off('close', resolve)
        resolve()
      }
      stream.on('close', resolve)
    })
    if (stream.destroyed) throw new Error('the client has disconnected')
  }

  /** Cancels a delayed write and releases the buffer. */
  close(): void {
    this.#isClosed = true
    clearImmediate(this.#writeTimer)
    this.#options.buffers.release(this.buffer)
  }

  /** While the client does not read, answers collect in one buffer, because each write takes memory. */
  #writeUnlessUnread(): void {
    this.#writeTimer = undefined
    if (!this.#stream.writableNeedDrain) this.write()
  }

  /** Takes memory for all unread answers. Returns false if the budget is full, or if they are too many. */
  #hold(): boolean {
    for (; this.#held < this.#unread; this.#held += STEP_BYTES)
      if (this.#held >= MAX_UNREAD_BYTES || !this.#options.hold.take(STEP_BYTES)) return false
    return true
  }

  #countRead(bytes: number): void {
    this.#unread -= bytes
    for (; this.#held - STEP_BYTES >= this.#unread; this.#held -= STEP_BYTES) this.#options.hold.releaseFirst()
    // Answers that have collected meanwhile.
    if (this.#unread === 0 && !this.#isClosed) this.#writeTimer ??= setImmediate(() => this.write())
    this.#onRead?.()
  }
}

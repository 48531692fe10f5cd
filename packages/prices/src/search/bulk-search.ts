import { Problem } from '@influencer-stats/runtime/problems'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { ItemScanner } from './item-scanner.ts'
import { getCurrentMoment } from '../core/values/moment.ts'
import { ByteAccumulator } from '../core/bytes/byte-accumulator.ts'
import type { OutputBuffer } from './render-answer.ts'
import { errors } from '../errors.ts'
import type { RowFinder } from '../index/price-index.ts'
import { createAnswerBuffer, renderErrorLine, isFull, writeLine, type OnItemError, type Searcher } from './searcher.ts'
import { getTurnDeadline, yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { CatalogView } from './catalog-view.ts'

/** Maximum size of an item (bytes). */
export const MAX_ITEM_BYTES = 65_536
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

export interface BulkOptions {
  readonly searcher: Searcher
  readonly buffers: BufferPool
  readonly view: CatalogView
  readonly index: RowFinder
  /** Called at most once: before the first answer is written, or at the end of a request without items. */
  readonly begin: () => void
  readonly onFault: OnItemError
  /** A client that reads no data for this time is disconnected (ms). */
  readonly writeTimeoutMs: number
}

/**
 * Answers the items of a request in their order, as they arrive. It does not collect answers: if a client does not
 * read, the request waits. Data that cannot be split into items ends the answers with one error.
 * @returns true if the request was read to its end
 * @throws Problem if the request fails before its first answer; another error if the client disconnects or does not read
 * in time
 */
export async function answerBulkSearch(request: Readable, reply: Writable, options: BulkOptions): Promise<boolean> {
  const writer = new BulkAnswerWriter(reply, options)
  try {
    // A request that is not read to its end still needs a reply.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) await writer.answer(chunk as Buffer)
    writer.assertComplete()
    writer.end()
  } catch (error) {
    if (!(error instanceof Problem) || !writer.hasOutput) throw error
    writer.end(error)
    return false
  } finally {
    writer.close()
  }
  return true
}

/** The answers to one request. */
class BulkAnswerWriter {
  readonly #reply: Writable
  readonly #options: BulkOptions
  readonly #items = new ItemScanner()
  /** The beginning of an incomplete item. */
  readonly #rest = new ByteAccumulator()
  /** Length of the chunks before the current one (bytes). */
  #offset = 0
  /** The moment that `now` means in all items. */
  readonly #now = getCurrentMoment()
  #buffer: OutputBuffer
  #begun = false
  #writeTimer: NodeJS.Immediate | undefined

  constructor(reply: Writable, options: BulkOptions) {
    this.#reply = reply
    this.#options = options
    this.#buffer = options.buffers.take()
  }

  get hasOutput(): boolean {
    return this.#begun || this.#buffer.filled > 0
  }

  /** @throws Problem `BAD_JSON` if the request may not end here */
  assertComplete(): void {
    this.#items.assertComplete(this.#offset - this.#rest.length)
  }

  /** Answers the items that end in a chunk, and stores the beginning of an incomplete one. */
  async answer(chunk: Buffer): Promise<void> {
    await this.#waitForDrain()
    await this.#answerChunk(chunk)
    this.#offset += chunk.length
    freeMemory(chunk)
  }

  async #answerChunk(chunk: Buffer): Promise<void> {
    let start = 0
    if (this.#rest.length > 0) {
      const offset = this.#offset - this.#rest.length
      const end = this.#items.findEnd(chunk, 0)
      this.#append(end < 0 ? chunk : chunk.subarray(0, end), offset)
      if (end < 0) return
      await this.#answerItems(this.#rest.take(), 0, offset)
      start = end
    }
    const end = await this.#answerItems(chunk, start, this.#offset)
    this.#append(chunk.subarray(end), this.#offset + end)
  }

  /**
   * Writes the answers that are still in the buffer.
   * @param error the reason that no more answers follow
   */
  end(error?: Problem): void {
    if (error) writeLine(this.#buffer, renderErrorLine(error, this.#items.count + 1))
    this.#write()
  }

  /** Cancels a delayed write and releases the buffer. */
  close(): void {
    clearImmediate(this.#writeTimer)
    this.#options.buffers.release(this.#buffer)
  }

  /**
   * Answers the whole items in `bytes`, from `start` on.
   * @param offset position of `bytes` in the request
   * @returns the beginning of the incomplete item, or the length of `bytes`
   */
  async #answerItems(bytes: Buffer, start: number, offset: number): Promise<number> {
    const { searcher, view, index, onFault } = this.#options
    const items = this.#items
    let at = items.findStart(bytes, start, offset)
    while (at < bytes.length) {
      let end = searcher.answerScanned(bytes, at, items, view, index, this.#buffer, getTurnDeadline())
      if (end === at) {
        end = items.findEnd(bytes, at)
        if (end < 0) break
        if (end - at > MAX_ITEM_BYTES) throw this.#createTooLargeError(offset + at)
        searcher.answerItem(bytes.subarray(at, end), items.count + 1, view, index, this.#buffer, onFault, this.#now)
        items.endItems(1)
      }
      at = items.findStart(bytes, end, offset)
      if (isFull(this.#buffer)) {
        this.#write()
        await this.#waitForDrain()
      }
      await yieldTurn()
    }
    // A delayed write: more of the request often arrives meanwhile, and a write costs as much time as 50 answers.
    if (this.#buffer.filled > 0) this.#writeTimer ??= setImmediate(() => this.#write())
    return at
  }

  /** @param offset position of the incomplete item in the request */
  #append(piece: Uint8Array, offset: number): void {
    if (this.#rest.length + piece.length > MAX_ITEM_BYTES) throw this.#createTooLargeError(offset)
    this.#rest.add(piece)
  }

  #createTooLargeError(offset: number): Problem {
    return errors.ITEM_TOO_LARGE(`${this.#items.describeItem(offset)} must have at most ${MAX_ITEM_BYTES} bytes`)
  }

  async #waitForDrain(): Promise<void> {
    if (!this.#reply.writableNeedDrain) return
    await once(this.#reply, 'drain', { signal: AbortSignal.timeout(this.#options.writeTimeoutMs) })
  }

  #write(): void {
    clearImmediate(this.#writeTimer)
    this.#writeTimer = undefined
    const { buffers, begin } = this.#options
    if (!this.#begun) begin()
    this.#begun = true
    const buffer = this.#buffer
    if (buffer.filled === 0) return
    this.#reply.write(buffer.bytes.subarray(0, buffer.filled), () => buffers.release(buffer))
    this.#buffer = buffers.take()
  }
}

/**
 * Frees the memory of a chunk that has no readers any more. As garbage it is outside of V8's heap, and for every 64 MB
 * of it V8 marks the whole heap: with 40 requests of 3,000 items that took a fifth of the processor's time.
 */
function freeMemory({ buffer, length }: Buffer): void {
  // A buffer that shares its memory must not be transferred.
  if (buffer.byteLength === length) (buffer as ArrayBuffer).transfer(0)
}

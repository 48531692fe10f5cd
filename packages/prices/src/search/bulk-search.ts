import { Problem } from '@influencer-stats/runtime/problems'
import type { ReplyOutput } from '@influencer-stats/runtime/reply-output'
import { AnswerOutput, type AnswerOutputOptions } from './answer-output.ts'
import { ItemScanner } from './item-scanner.ts'
import { getCurrentMoment } from '../core/values/moment.ts'
import { ByteAccumulator } from '../core/bytes/byte-accumulator.ts'
import { errors } from '../errors.ts'
import type { RowFinder } from '../index/price-index.ts'
import { renderErrorLine, isFull, writeLine, type OnItemError, type Searcher } from './searcher.ts'
import { getTurnDeadline, yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { CatalogView } from './catalog-view.ts'

/** Maximum size of an item (bytes). */
export const MAX_ITEM_BYTES = 65_536

export interface BulkOptions extends AnswerOutputOptions {
  readonly searcher: Searcher
  readonly view: CatalogView
  readonly index: RowFinder
  readonly onFault: OnItemError
}

/**
 * Answers the items of a request in their order, as they arrive. Data that cannot be split into items ends the answers
 * with one error.
 * @returns true if the request was read to its end
 * @throws Problem if the request fails before its first answer; another error if the client disconnects
 */
export async function answerBulkSearch(
  request: AsyncIterable<Buffer>,
  reply: ReplyOutput,
  options: BulkOptions,
): Promise<boolean> {
  const output = new AnswerOutput(reply, options)
  const items = new ItemAnswerer(output, options)
  try {
    for await (const chunk of request) await items.answer(chunk)
    items.assertComplete()
    output.write()
  } catch (error) {
    if (!(error instanceof Problem) || output.isEmpty) throw error
    items.writeError(error)
    output.write()
    return false
  } finally {
    output.close()
  }
  return true
}

/** Answers the items of one request. */
class ItemAnswerer {
  readonly #output: AnswerOutput
  readonly #options: BulkOptions
  readonly #items = new ItemScanner()
  /** The beginning of an incomplete item. */
  readonly #rest = new ByteAccumulator()
  /** Length of the chunks before the current one (bytes). */
  #offset = 0
  /** The moment that `now` means in all items. */
  readonly #now = getCurrentMoment()

  constructor(output: AnswerOutput, options: BulkOptions) {
    this.#output = output
    this.#options = options
  }

  /** @throws Problem `BAD_JSON` if the request may not end here */
  assertComplete(): void {
    this.#items.assertComplete(this.#offset - this.#rest.length)
  }

  /** Answers the items that end in a chunk, and stores the beginning of an incomplete one. */
  async answer(chunk: Buffer): Promise<void> {
    await this.#output.waitForSpace()
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

  /** Writes the reason that no more answers follow. */
  writeError(error: Problem): void {
    writeLine(this.#output.buffer, renderErrorLine(error, this.#items.count + 1))
  }

  /**
   * Answers the whole items in `bytes`, from `start` on.
   * @param offset position of `bytes` in the request
   * @returns the beginning of the incomplete item, or the length of `bytes`
   */
  async #answerItems(bytes: Buffer, start: number, offset: number): Promise<number> {
    const { searcher, view, index, onFault } = this.#options
    const [items, output] = [this.#items, this.#output]
    let at = items.findStart(bytes, start, offset)
    while (at < bytes.length) {
      let end = searcher.answerScanned(bytes, at, items, view, index, output.buffer, getTurnDeadline())
      if (end === at) {
        end = items.findEnd(bytes, at)
        if (end < 0) break
        if (end - at > MAX_ITEM_BYTES) throw this.#createTooLargeError(offset + at)
        searcher.answerItem(bytes.subarray(at, end), items.count + 1, view, index, output.buffer, onFault, this.#now)
        items.endItems(1)
      }
      at = items.findStart(bytes, end, offset)
      if (isFull(output.buffer)) {
        output.write()
        await output.waitForSpace()
      }
      await yieldTurn()
    }
    output.writeSoon()
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
}

/**
 * Frees the memory of a chunk that has no readers any more. As garbage it is outside of V8's heap, and for every 64 MB
 * of it V8 marks the whole heap: with 40 requests of 3,000 items that took a fifth of the processor's time.
 */
function freeMemory({ buffer, length }: Buffer): void {
  // A buffer that shares its memory must not be transferred.
  if (buffer.byteLength === length) (buffer as ArrayBuffer).transfer(0)
}

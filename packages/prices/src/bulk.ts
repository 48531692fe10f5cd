import { errors as house } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { beginsItem, ItemEnds } from './core/items.ts'
import { Joined } from './core/joined.ts'
import type { Room } from './core/render.ts'
import { errors } from './errors.ts'
import type { Finder } from './index/index.ts'
import { createAnswerRoom, errorLine, isFull, writeLine, type OnFault, type Searcher } from './searcher.ts'
import { turnEnds, yieldTurn } from './turn.ts'
import type { View } from './view.ts'

/** The longest item (bytes). */
export const LONGEST_ITEM = 65_536
const CHUNK = 65_536
const ROOMS_KEPT = 4

/**
 * Memory for answers, used again once it is written: garbage of 0.4 MB a request would make V8 mark the whole heap every few
 * requests. Of one thread.
 */
export class Rooms {
  readonly #free: Room[] = []

  take(): Room {
    return this.#free.pop() ?? createAnswerRoom(CHUNK)
  }

  give(room: Room): void {
    room.filled = 0
    if (this.#free.length < ROOMS_KEPT) this.#free.push(room)
  }
}

export interface BulkOptions {
  readonly searcher: Searcher
  readonly rooms: Rooms
  readonly view: View
  readonly index: Finder
  /** Called before the first answer is written. */
  readonly begin: () => void
  readonly onFault: OnFault
  /** A client that reads nothing for so long is cut off (ms). */
  readonly patience: number
}

/**
 * Answers the items of a request as they come, in their order. Nothing is gathered: a client that does not read makes the
 * request wait. What cannot be split into items ends the answers with one error.
 * @returns whether the request was read to its end
 * @throws Problem where nothing was answered yet, and when the client has left
 */
export async function answerBulk(request: Readable, reply: Writable, options: BulkOptions): Promise<boolean> {
  const answers = new Answers(reply, options)
  try {
    // A request that is not read to its end is still to be answered.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) await answers.answer(chunk as Buffer)
    if (answers.inItem) throw house.BAD_JSON('the request ends in the middle of an item')
    answers.end()
  } catch (error) {
    if (!(error instanceof Problem) || !answers.any) throw error
    answers.end(error)
    return false
  } finally {
    answers.close()
  }
  return true
}

/** The answers to one request. */
class Answers {
  readonly #reply: Writable
  readonly #options: BulkOptions
  readonly #ends = new ItemEnds()
  /** The beginning of an item. */
  readonly #rest = new Joined()
  #room: Room
  #begun = false
  #later: NodeJS.Immediate | undefined

  constructor(reply: Writable, options: BulkOptions) {
    this.#reply = reply
    this.#options = options
    this.#room = options.rooms.take()
  }

  get any(): boolean {
    return this.#begun || this.#room.filled > 0
  }

  /** Whether an item has begun that has not ended. */
  get inItem(): boolean {
    return this.#rest.length > 0
  }

  /** Answers the items that end in a chunk, and keeps the beginning of one that is to go on. */
  async answer(chunk: Buffer): Promise<void> {
    await this.#drained()
    let bytes = chunk
    if (this.inItem) {
      const end = this.#ends.find(chunk, 0)
      this.#keep(end < 0 ? chunk : chunk.subarray(0, end))
      if (end < 0) return
      await this.#items(this.#rest.take())
      bytes = chunk.subarray(end)
    }
    this.#keep(bytes.subarray(await this.#items(bytes)))
    release(chunk)
  }

  /** Writes what is left. @param error why there is no more */
  end(error?: Problem): void {
    if (error) writeLine(this.#room, errorLine(error, undefined))
    this.#write()
  }

  /** Writes no more. */
  close(): void {
    clearImmediate(this.#later)
    this.#options.rooms.give(this.#room)
  }

  /** Answers the whole items in `bytes` and returns how much of it they take. */
  async #items(bytes: Buffer): Promise<number> {
    const { searcher, view, index, onFault } = this.#options
    let at = 0
    for (;;) {
      at = searcher.answerUsual(bytes, at, view, index, this.#room, turnEnds())
      if (isFull(this.#room)) {
        this.#write()
        await this.#drained()
        continue
      }
      if (at === bytes.length) break
      if (!beginsItem(bytes[at]!)) throw house.BAD_JSON('an item is not a JSON object')
      const end = this.#ends.find(bytes, at)
      if (end < 0) break
      if (end - at > LONGEST_ITEM) throw tooLarge()
      searcher.answerItem(bytes.subarray(at, end), view, index, this.#room, onFault)
      at = end
      await yieldTurn()
    }
    // Not at once: more of the request has often come by then, and a write costs as much as 50 answers.
    if (this.#room.filled > 0) this.#later ??= setImmediate(() => this.#write())
    return at
  }

  #keep(piece: Uint8Array): void {
    if (this.#rest.length + piece.length > LONGEST_ITEM) throw tooLarge()
    this.#rest.add(piece)
  }

  async #drained(): Promise<void> {
    if (!this.#reply.writableNeedDrain) return
    await once(this.#reply, 'drain', { signal: AbortSignal.timeout(this.#options.patience) })
  }

  #write(): void {
    clearImmediate(this.#later)
    this.#later = undefined
    const { rooms, begin } = this.#options
    if (!this.#begun) begin()
    this.#begun = true
    const room = this.#room
    if (room.filled === 0) return
    this.#reply.write(room.bytes.subarray(0, room.filled), () => rooms.give(room))
    this.#room = rooms.take()
  }
}

const tooLarge = () => errors.ITEM_TOO_LARGE(`${LONGEST_ITEM} bytes`)

/**
 * Gives back the memory of a chunk that nobody will read again. As garbage it lies outside of V8's heap, and for every
 * 64 MB of it V8 marks the whole heap: with 40 requests of 3,000 items that was a fifth of the processor's time.
 */
function release({ buffer, length }: Buffer): void {
  // What shares its memory with others is theirs, too.
  if (buffer.byteLength === length) (buffer as ArrayBuffer).transfer(0)
}

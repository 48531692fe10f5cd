import type { Socket } from 'node:net'
import { createMemoryFull } from '../../errors/common-errors.ts'
import { roundToUnits } from '../../memory/budget.ts'
import { type HotReply, isStream } from './endpoint.ts'
import type { RawAdapterHost } from './raw-host.ts'
import { isCounted } from './reply-text.ts'
import { MAX_HEAD_BYTES } from './request-grammar.ts'
import type { RawRequest } from './request-reader.ts'

/** The memory that one connection of the raw server adapter takes from the budget. */
export class ConnectionMemory {
  readonly #budget: RawAdapterHost['budget']
  readonly #socket: Socket
  /** Bytes for unread input. */
  #unread = 0
  /** Bytes for large replies that are not sent yet. */
  #replies = 0

  constructor(budget: RawAdapterHost['budget'], socket: Socket) {
    this.#budget = budget
    this.#socket = socket
  }

  /** Takes memory for unread input. Returns false if the budget is full. */
  holdUnread(length: number): boolean {
    // A head needs no memory from the budget: it is short, and an incomplete one soon passes to Node.
    if (length <= MAX_HEAD_BYTES) return true
    if (!this.#budget.take(length)) return false
    this.#unread = length
    return true
  }

  /**
   * Takes memory for a large reply until the reply is written and the socket accepts more. Returns the reply, or an error
   * reply if the budget is full.
   */
  chargeReply({ match: { endpoint, isHead }, id }: RawRequest, answer: HotReply): HotReply {
    if (isStream(answer) || isHead || !isCounted(answer.body) || this.#socket.destroyed) return answer
    // Rounded up to whole units, so that the sum of several replies can be released at once.
    const bytes = roundToUnits(answer.body.length)
    if (!this.#budget.take(bytes)) return endpoint.toErrorReply(createMemoryFull(), id)
    this.#replies += bytes
    return answer
  }

  releaseUnread(): void {
    if (this.#unread > 0) this.#budget.release(this.#unread)
    this.#unread = 0
  }

  /** Releases the memory of the replies if the buffer of the socket is not full. */
  releaseWritten(): void {
    if (this.#replies > 0 && !this.#socket.writableNeedDrain && this.#socket.writableCorked === 0) this.releaseReplies()
  }

  releaseReplies(): void {
    if (this.#replies > 0) this.#budget.release(this.#replies)
    this.#replies = 0
  }
}

import { FrameError } from '../errors.ts'
import { decodeFrame, getMessageCheck, readPart, type Frame, type FramePart } from './frame.ts'

/** Message of the log. */
export interface LogMessage {
  readonly seq: number
  /** Time at which the log stored it (ms since 1970). */
  readonly at: number
  readonly data: Buffer
}

/** Frame with its sequence, which is that of its last message. */
export interface SequencedFrame extends Frame {
  readonly seq: number
  readonly at: number
  /** Checksum of its last message. */
  readonly check: number
}

/** Message that is no part of a frame. Every node skips it. */
export interface SkippedMessage {
  readonly seq: number
  readonly at: number
  /** Checksum of the message: see `getMessageCheck`. */
  readonly check: number
  /** Distinguishes it from a frame. */
  readonly writer?: undefined
}

/**
 * Reason why every node skips a message: another program sent it, its bytes are damaged, or other parts of its frame are
 * missing.
 */
export type SkipReason = 'foreign' | 'damaged' | 'torn'

/** @param count number of consecutive messages, of which `seq` is the last one */
export type OnSkip = (reason: SkipReason, seq: number, count: number) => void

/**
 * Assembles frames from the messages of the log, in their order. The server stores the parts of a frame atomically, so
 * another message between them means that the frame is torn: its parts are skipped. The result depends on the messages
 * only, so it is the same on every node, wherever the node started: no position is between the parts of a frame.
 */
export class FrameAssembler {
  readonly #onSkip: OnSkip
  #pending: FramePart[] = []

  constructor(onSkip: OnSkip = () => {}) {
    this.#onSkip = onSkip
  }

  /**
   * Returns the frame that the message completes, or the message if it is skipped; undefined if more parts follow.
   * @throws FrameError `LOG_FORMAT_UNKNOWN`
   */
  addMessage(message: LogMessage): SequencedFrame | SkippedMessage | undefined {
    const { seq, at, data } = message
    try {
      const received = readPart(data)
      const { part, parts, check, piece } = received
      if (part === 0) this.#dropPending(seq)
      else if (part !== this.#pending.length || parts !== this.#pending[0]!.parts) return this.#skip('torn', message)
      if (part + 1 < parts) {
        this.#pending.push(received)
        return undefined
      }
      const frame = decodeFrame(
        parts === 1 ? piece : Buffer.concat([...this.#pending.map((pending) => pending.piece), piece]),
      )
      this.#pending = []
      return { ...frame, seq, at, check }
    } catch (error) {
      if (!(error instanceof FrameError) || error.code === 'LOG_FORMAT_UNKNOWN') throw error
      return this.#skip(error.code === 'LOG_FOREIGN' ? 'foreign' : 'damaged', message)
    }
  }

  #skip(reason: SkipReason, { seq, at, data }: LogMessage): SkippedMessage {
    this.#dropPending(seq)
    this.#onSkip(reason, seq, 1)
    return { seq, at, check: getMessageCheck(data) }
  }

  /** Skips the parts of an incomplete frame. @param seq sequence after the last part */
  #dropPending(seq: number): void {
    if (this.#pending.length === 0) return
    this.#onSkip('torn', seq - 1, this.#pending.length)
    this.#pending = []
  }
}

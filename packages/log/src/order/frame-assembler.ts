import { FrameError } from '../errors.ts'
import { decodeFrame, readPart, type Frame } from './frame.ts'

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

/**
 * Assembles frames from the messages of the log, in their order. No other message is between the parts of a frame,
 * because the server stores the parts atomically.
 */
export class FrameAssembler {
  #pieces: Buffer[] = []

  /** Returns the frame that the message completes; undefined if more parts follow. @throws FrameError */
  addMessage({ seq, at, data }: LogMessage): SequencedFrame | undefined {
    const { part, parts, check, piece } = readPart(data)
    if (part !== this.#pieces.length)
      throw new FrameError('LOG_DAMAGED', `is part ${part}, but part ${this.#pieces.length} was expected`)
    if (part + 1 < parts) {
      this.#pieces.push(piece)
      return undefined
    }
    const bytes = parts === 1 ? piece : Buffer.concat([...this.#pieces, piece])
    this.#pieces = []
    return { ...decodeFrame(bytes), seq, at, check }
  }
}

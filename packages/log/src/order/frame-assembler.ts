import { FrameError } from '../errors.ts'
import { decodeFrame, readPart, type Frame } from './frame.ts'

/** One message of the log. */
export interface LogMessage {
  readonly seq: number
  /** When the log took it (ms since 1970). */
  readonly at: number
  readonly data: Buffer
}

/** A frame at its place, which is that of its last message. */
export interface SequencedFrame extends Frame {
  readonly seq: number
  readonly at: number
  /** Checksum of its last message. */
  readonly check: number
}

/**
 * Makes frames of messages that come in their order. The parts of one frame follow each other without a gap, because the
 * server stores them as one.
 */
export class FrameAssembler {
  #pieces: Buffer[] = []

  /** The frame that the message ends; nothing where more parts are to come. @throws FrameError */
  addMessage({ seq, at, data }: LogMessage): SequencedFrame | undefined {
    const { part, parts, check, piece } = readPart(data)
    if (part !== this.#pieces.length)
      throw new FrameError('LOG_DAMAGED', `is part ${part} where part ${this.#pieces.length} was to come`)
    if (part + 1 < parts) {
      this.#pieces.push(piece)
      return undefined
    }
    const bytes = parts === 1 ? piece : Buffer.concat([...this.#pieces, piece])
    this.#pieces = []
    return { ...decodeFrame(bytes), seq, at, check }
  }
}

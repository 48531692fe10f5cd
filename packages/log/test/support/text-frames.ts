import { encodeFrame } from '../../src/order/frame.ts'
import { APPEND_KIND } from './text-state-machine.ts'

export const toBuffer = (value: string) => Buffer.from(value)

/** Encodes a frame of a foreign writer that appends one text. @param number number of the frame */
export const toFrame = (number: number, value: string) =>
  encodeFrame(
    { writer: 'ab'.repeat(8), number, entries: [{ kind: APPEND_KIND, term: 0, body: toBuffer(value) }] },
    1e6,
  )[0]!

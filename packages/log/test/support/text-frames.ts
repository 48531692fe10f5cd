import { crc32 } from 'node:zlib'
import { encodeFrame } from '../../src/order/frame.ts'
import { APPEND_KIND } from './text-state-machine.ts'

export const toBuffer = (value: string) => Buffer.from(value)

/** Encodes a frame of a foreign writer that appends one text. @param number number of the frame */
export const toFrame = (number: number, value: string) =>
  encodeFrame(
    { writer: 'ab'.repeat(8), number, entries: [{ kind: APPEND_KIND, term: 0, body: toBuffer(value) }] },
    1e6,
  )[0]!

/** Returns an intact message of another version of the format. */
export function createMessageOfFormat(version: number): Buffer {
  const message = toFrame(1, 'of another version')
  message[1] = version
  message.writeUInt32BE(crc32(message.subarray(10), crc32(message.subarray(0, 6))), 6)
  return message
}

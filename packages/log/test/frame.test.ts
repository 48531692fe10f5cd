import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameError } from '../src/errors.ts'
import { decodeFrame, encodeFrame, canBeFrom, readPart } from '../src/order/frame.ts'
import { FrameAssembler } from '../src/order/frame-assembler.ts'

const entry = fc.record({
  kind: fc.integer({ min: 0, max: 255 }),
  term: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
})
const frame = fc.record({
  writer: fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  number: fc.integer({ min: 1, max: 2 ** 48 - 1 }),
  entries: fc.array(entry, { maxLength: 8 }),
})

const join = (messages: readonly Buffer[]) => {
  const joiner = new FrameAssembler()
  return messages.map((data, i) => joiner.addMessage({ seq: i + 1, at: i, data }))
}

describe('a frame', () => {
  it('names its writer before it is decoded, unless it has parts or is damaged', () => {
    fc.assert(
      fc.property(frame, frame, fc.integer({ min: 64, max: 2_000 }), (given, other, limit) => {
        const messages = encodeFrame(given, limit)
        expect(messages.every((message) => canBeFrom(given.writer, message))).toBe(true)
        const isSure = messages.length === 1 && given.writer !== other.writer
        expect(canBeFrom(other.writer, messages[0]!)).toBe(!isSure)
      }),
    )
    expect(canBeFrom('00'.repeat(8), Buffer.of(1))).toBe(true)
  })

  it('decodes to the encoded entries for any size of a message', () => {
    fc.assert(
      fc.property(frame, fc.integer({ min: 64, max: 2_000 }), (given, limit) => {
        const messages = encodeFrame(given, limit)
        for (const { length } of messages) expect(length).toBeLessThanOrEqual(limit)
        const frames = join(messages)
        expect(frames.slice(0, -1).every((one) => one === undefined)).toBe(true)
        expect(frames.at(-1)).toMatchObject({ ...given, seq: messages.length })
      }),
    )
  })

  it('is rejected if any bit is flipped', () => {
    fc.assert(
      fc.property(frame, fc.nat(), fc.nat({ max: 7 }), (given, at, bit) => {
        const [message] = encodeFrame(given, 100_000)
        message![at % message!.length]! ^= 1 << bit
        expect(() => readPart(message!)).toThrow(FrameError)
      }),
    )
  })

  it('is rejected if it is truncated', () => {
    const [message] = encodeFrame(
      { writer: '00'.repeat(8), number: 1, entries: [{ kind: 1, term: 0, body: Buffer.from('body') }] },
      1_000,
    )
    expect(() => readPart(Buffer.alloc(0))).toThrow(expect.objectContaining({ code: 'LOG_FOREIGN' }))
    for (let length = 1; length < message!.length; length++)
      expect(() => readPart(message!.subarray(0, length))).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }))
    const { piece } = readPart(message!)
    for (let length = 15; length < piece.length; length++)
      expect(() => decodeFrame(piece.subarray(0, length))).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }))
  })
})

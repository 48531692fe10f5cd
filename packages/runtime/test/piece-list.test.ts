import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Chunk } from '../src/memory/chunk.ts'
import { Piece, PieceList } from '../src/memory/piece-list.ts'

it('equal lists of pieces share their chunk, and all lists share the chunks of their pieces', () => {
  const texts = Array.from({ length: 6 }, (_, i) => `event ${i};`)
  // For each event, the groups out of four that get it.
  const sent = fc.array(fc.tuple(fc.nat(texts.length - 1), fc.uniqueArray(fc.nat(3))), { maxLength: 30 })
  fc.assert(
    fc.property(sent, fc.boolean(), (events, isListed) => {
      const nothing = new PieceList()
      const groups = Array.from({ length: 4 }, () => ({ pieces: nothing, expected: '', count: 0 }))
      for (const [event, recipients] of events) {
        const piece = new Piece(texts[event]!)
        for (const group of recipients.map((i) => groups[i]!)) {
          group.pieces = group.pieces.with(piece)
          group.expected += texts[event]!
          group.count++
        }
      }
      const chunks = new Set<Chunk>()
      for (const { pieces, expected, count } of groups) {
        expect(pieces.count).toBe(count)
        if (count === 0) continue
        const own = isListed ? pieces.toChunkList(Chunk.fromText) : [pieces.toJoinedChunk(Chunk.fromText)]
        expect(own.map(({ bytes }) => String(bytes)).join('')).toBe(expected)
        for (const chunk of own) chunks.add(chunk)
      }
      if (isListed) expect(chunks.size).toBe(events.filter(([, { length }]) => length > 0).length)
      if (events.every(([, { length }]) => length === 4)) {
        for (const { pieces } of groups) expect(pieces).toBe(groups[0]!.pieces)
      }
    }),
  )
})

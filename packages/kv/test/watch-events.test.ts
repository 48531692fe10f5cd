import { Chunk } from '@influencer-stats/runtime/chunk'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readChanges, toPage } from '../src/core/change-pages.ts'
import type { Op } from '../src/core/change-lines.ts'
import { parseWatchEvents, toIdLine } from '../src/lines/watch-events.ts'
import { encodeWrites } from '../src/core/encode-writes.ts'
import { renderChangePage, type WatchRecipient } from '../src/watch/render-change-page.ts'

const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }).map((text) => Buffer.from(text))
const value = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes))
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ type: fc.constant('put' as const), key, value }),
  fc.record({ type: fc.constant('del' as const), key }),
)
const changeSets = fc
  .array(fc.array(op, { maxLength: 4 }), { maxLength: 8 })
  .map((all) => all.map((ops, i) => ({ seq: 7 * i + 1, ops })))

/** Returns the text that a stream of all keys gets for these sequences. */
function toText(all: readonly { seq: number; ops: Op[] }[]): string {
  const page = toPage(
    all.map(({ seq, ops }) => ({ seq, writes: encodeWrites(ops.map((one) => ({ ops: [one] }))) })),
    1_000,
  )
  let text = ''
  const stream: WatchRecipient = { connections: { size: 1 } }
  renderChangePage(
    page,
    (_key, _seq, found) => found(stream),
    Chunk.fromText,
    (_stream, chunks) => {
      text = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
    },
  )
  return text
}

async function* cutChunks(bytes: Buffer, size: number) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

it('a stream shows all changes by sequence, for any values, any pieces and any position of a disconnect', async () => {
  await fc.assert(
    fc.asyncProperty(changeSets, fc.integer({ min: 1, max: 40 }), fc.nat(), async (all, size, end) => {
      const ends: number[] = []
      let whole = 'retry: 1000\n\n'
      for (const { seq, ops } of all) {
        whole += toText([{ seq, ops }]) || toIdLine(seq)
        ends.push(Buffer.byteLength(whole))
      }
      const bytes = Buffer.from(whole)
      const length = end % (bytes.length + 1)
      const found = await Array.fromAsync(parseWatchEvents(cutChunks(bytes.subarray(0, length), size)))
      // A sequence is shown completely or not at all.
      expect(found).toEqual(all.slice(0, ends.filter((one) => one <= length).length))
    }),
  )
})

it('events of several sequences in one text have one id per sequence', () => {
  const put = (id: string): Op => ({ type: 'put', key: Buffer.from(id), value: Buffer.from('1') })
  const text = toText([
    { seq: 3, ops: [put('a'), put('b')] },
    { seq: 4, ops: [{ type: 'del', key: Buffer.from('c') }] },
  ])
  const line = (id: string) => `event: put\ndata: {"op":"put","id":"${id}","value":"1"}\n`
  expect(text).toBe(`${line('a')}\n${line('b')}id: 3\n\nevent: delete\ndata: {"op":"delete","id":"c"}\nid: 4\n\n`)
})

it('a page returns the changes from which it was made', () => {
  fc.assert(
    fc.property(changeSets, (all) => {
      const page = toPage(
        all.map(({ seq, ops }) => ({ seq, writes: encodeWrites(ops.map((one) => ({ ops: [one] }))) })),
        1_000,
      )
      expect([...readChanges(structuredClone(page))]).toEqual(all)
    }),
  )
})

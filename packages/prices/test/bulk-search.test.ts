import fc from 'fast-check'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { answerBulkSearch, BufferPool } from '../src/search/bulk-search.ts'
import { createAnswerBuffer, Searcher } from '../src/search/searcher.ts'
import { createTestView } from './support/catalog.ts'
import { createPrice, toSearch } from './support/prices.ts'

const allPrices = Array.from({ length: 200 }, (_, i) =>
  createPrice({ value: i, offeringId: `o${i % 3}`, charValues: [{ char: 'n', value: String(i) }] }),
)
// Two prices that one search finds.
const twins = [0, 1].map((value) => createPrice({ value, groupId: 'twins', charValues: [{ char: 'n', value: '0' }] }))

const odd = createPrice({ offeringId: '"}', groupId: '\\', charValues: [{ char: 'n', value: '\\"}' }] })
const { view, index } = await createTestView([...allPrices, ...twins, odd])
const searcher = new Searcher()

const usual = fc.integer({ min: 0, max: allPrices.length - 1 }).map((i) => toSearch(allPrices[i]!))
const other = fc.oneof(
  // No price, several prices, an unknown name, an invalid search.
  fc.constant({ ...toSearch(allPrices[0]!), charValues: [{ char: 'n', value: '1' }] }),
  fc.constant(toSearch(twins[0]!)),
  fc.constant({ ...toSearch(allPrices[0]!), groupId: 'unknown' }),
  fc.constant({ groupId: 3 }),
  // Braces and quotes in texts.
  fc.constant(toSearch(odd)),
)
const item = fc.record({
  search: fc.oneof({ weight: 12, arbitrary: usual }, other),
  space: fc.constantFrom('', '\n', ' \r\n\t'),
})
/** The number of repetitions of a request's items: sometimes the answers exceed a buffer. */
const repeated = fc.constantFrom(1, 1, 1, 40)

/** Cuts bytes into chunks, some of which own their memory. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const part = bytes.subarray(at, at + sizes[i % sizes.length]!)
    chunks.push(i % 3 === 0 ? Buffer.from(part) : Buffer.from(new Uint8Array(part).buffer))
    at += part.length
  }
  return chunks
}

async function readAnswers(chunks: readonly Buffer[]): Promise<string> {
  const written: string[] = []
  const reply = new Writable({
    highWaterMark: 4_096,
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      setImmediate(done)
    },
  })
  const onFault = () => {}
  const options = {
    searcher,
    buffers: new BufferPool(),
    view,
    index,
    onFault,
    begin: () => undefined,
    writeTimeoutMs: 60_000,
  }
  expect(await answerBulkSearch(Readable.from(chunks), reply, options)).toBe(true)
  reply.end()
  await once(reply, 'finish')
  return written.join('')
}

it('answers every item as it answers it alone, for any split of the request', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { minLength: 1, maxLength: 60 }),
      repeated,
      fc.array(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constant(65_536)), { minLength: 1, maxLength: 5 }),
      async (some, times, sizes) => {
        const items = Array.from({ length: times }, () => some).flat()
        const texts = items.map(({ search }, i) => JSON.stringify({ id: String(i), ...search }))
        const buffer = createAnswerBuffer(1_000_000)
        for (const text of texts) searcher.answerItem(Buffer.from(text), view, index, buffer, () => {})
        const body = Buffer.from(items.map(({ space }, i) => texts[i]! + space).join(''))
        expect(await readAnswers(cut(body, sizes))).toBe(buffer.bytes.toString('utf8', 0, buffer.filled))
      },
    ),
    { numRuns: 200 },
  )
})

it('frees the memory of chunks that own it, and of no others', async () => {
  const text = Buffer.from(JSON.stringify({ id: 'x', ...toSearch(allPrices[0]!) }))
  const own = Buffer.from(new Uint8Array(text).buffer)
  const shared = Buffer.from(new ArrayBuffer(2 * text.length), 0, text.length)
  text.copy(shared)
  expect((await readAnswers([own, shared])).trim().split('\n')).toHaveLength(2)
  expect([own.buffer.byteLength, shared.buffer.byteLength]).toEqual([0, 2 * text.length])
})

it('stops when the buffer is full, and continues from there', () => {
  const body = Buffer.from(
    allPrices.map((price, i) => JSON.stringify({ id: String(i), ...toSearch(price) })).join('\n'),
  )
  const answers: any[] = []
  let stops = 0
  for (let at = 0; at < body.length; stops++) {
    const buffer = createAnswerBuffer(1_000)
    at = searcher.answerScanned(body, at, view, index, buffer)
    expect(buffer.filled).toBeLessThan(1_200)
    const lines = buffer.bytes.toString('utf8', 0, buffer.filled).trim().split('\n')
    answers.push(...lines.map((line) => JSON.parse(line)))
  }
  expect(stops).toBeGreaterThan(10)
  expect(answers.map(({ id, price }) => [Number(id), price.value])).toEqual(allPrices.map(({ value }, i) => [i, value]))
})

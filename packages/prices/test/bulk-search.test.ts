import fc from 'fast-check'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { BufferPool } from '../src/search/answer-output.ts'
import { answerBulkSearch } from '../src/search/bulk-search.ts'
import { ItemScanner } from '../src/search/item-scanner.ts'
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
/** An id as JSON. */
const id = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8 }).map((text) => JSON.stringify(text)),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.constantFrom('0', '-0', '1.10', '9007199254740993', '1e2', '1E-2', '"1.10"', '"\\u00e9"'),
)
const item = fc.record({
  search: fc.oneof({ weight: 12, arbitrary: usual }, other),
  id,
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

/** The id at the end of an answer, as JSON. */
const readId = (line: string) => line.slice(line.lastIndexOf(',"id":') + 6, -1)
/** An id as an answer has it: a number as it was written, a text without needless escapes. */
const toWrittenId = (json: string) => (json.startsWith('"') ? JSON.stringify(JSON.parse(json)) : json)

const toOutput = (stream: Writable) => ({ stream, begin() {}, flush() {} })

async function readAnswers(chunks: readonly Buffer[], isComplete = true): Promise<string> {
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
    hold: { take: () => true, releaseFirst: () => undefined },
  }
  expect(await answerBulkSearch(Readable.from(chunks), toOutput(reply), options)).toBe(isComplete)
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
        const texts = items.map(({ search, id: one }) => `{"id":${one},${JSON.stringify(search).slice(1)}`)
        const buffer = createAnswerBuffer(1_000_000)
        texts.forEach((text, i) => searcher.answerItem(Buffer.from(text), i + 1, view, index, buffer, () => {}))
        const answers = buffer.bytes.toString('utf8', 0, buffer.filled)
        expect(answers.trim().split('\n').map(readId)).toEqual(items.map(({ id: one }) => toWrittenId(one)))
        const spaced = items.map(({ space }, i) => texts[i]! + space)
        expect(await readAnswers(cut(Buffer.from(spaced.join('')), sizes))).toBe(answers)
        expect(await readAnswers(cut(Buffer.from(` [\n${spaced.join(',')}]\r\n`), sizes))).toBe(answers)
      },
    ),
    { numRuns: 200 },
  )
})

it.each([
  ['{} 1', 'item 2, at byte 3, must be a JSON object; received "1"'],
  ['{}]', 'item 2, at byte 2, must be a JSON object; received "]"'],
  ['{},{}', 'item 2, at byte 2, must be a JSON object; received ","'],
  ['{} [{}]', 'item 2, at byte 3, must be a JSON object; received "["'],
  ['[{} {}]', 'item 2, at byte 4, must be a comma or ]; received "{"'],
  ['[{},,{}]', 'item 2, at byte 4, must be a JSON object; received ","'],
  ['[{},]', 'item 2, at byte 4, must be a JSON object; received "]"'],
  ['[{}}', 'item 2, at byte 3, must be a comma or ]; received "}"'],
  ['[{}],', 'item 2, at byte 4, must be the end of the request; received ","'],
  ['[{}]{}', 'item 2, at byte 4, must be the end of the request; received "{"'],
  ['{}{"id":', 'item 2, at byte 2, must be complete; received the end of the request'],
  ['[{},{', 'item 2, at byte 4, must be complete; received the end of the request'],
  ['[{}', 'item 2, at byte 3, must be a comma or ]; received the end of the request'],
  ['[{}, ', 'item 2, at byte 5, must be a JSON object; received the end of the request'],
])('names the item and the offset at which %s cannot be split, for any split', async (body, message) => {
  for (const size of [1, 2, 3, 100]) {
    const lines = (await readAnswers(cut(Buffer.from(body), [size]), false)).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line)).map(({ error }) => [error.item, error.code, error.message])).toEqual([
      [1, 'VALIDATION_FAILED', expect.any(String)],
      [2, 'BAD_JSON', message],
    ])
  }
})

it('an empty array has no answers', async () => {
  expect(await readAnswers([Buffer.from(' [ ] ')])).toBe('')
})

it('refuses an item with `explain`, and an id of too many digits', async () => {
  const search = toSearch(allPrices[0]!)
  const body = `{"id":1,"explain":true,${JSON.stringify(search).slice(1)}{"id":${'1'.repeat(257)},${JSON.stringify(search).slice(1)}`
  const lines = (await readAnswers([Buffer.from(body)])).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { id: 1, error: { code: 'VALIDATION_FAILED', message: expect.stringContaining('item/explain') } },
    { id: null, error: { code: 'VALIDATION_FAILED', message: expect.stringContaining('item/id') } },
  ])
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
  const scanner = new ItemScanner()
  let stops = 0
  for (let at = 0; at < body.length; stops++) {
    const buffer = createAnswerBuffer(1_000)
    at = scanner.findStart(body, searcher.answerScanned(body, at, scanner, view, index, buffer), 0)
    expect(buffer.filled).toBeLessThan(1_200)
    const lines = buffer.bytes.toString('utf8', 0, buffer.filled).trim().split('\n')
    answers.push(...lines.map((line) => JSON.parse(line)))
  }
  expect(stops).toBeGreaterThan(10)
  expect(answers.map(({ id, price }) => [Number(id), price.value])).toEqual(allPrices.map(({ value }, i) => [i, value]))
})

describe('answers that the client does not read', () => {
  const text = JSON.stringify({ id: 1, ...toSearch(allPrices[0]!) })
  const chunks = Array.from({ length: 40 }, () => Buffer.from(text.repeat(Math.floor(65_536 / text.length))))

  /** Answers the chunks for a client that reads nothing before `read` resolves. */
  async function answerUnread(maxHeld: number) {
    let held = 0
    const hold = {
      take(bytes: number) {
        const isTaken = held + bytes <= maxHeld
        if (isTaken) held += bytes
        return isTaken
      },
      releaseFirst: () => void (held -= 1_048_576),
    }
    const read = Promise.withResolvers<void>()
    let lines = 0
    const reply = new Writable({
      highWaterMark: 4_096,
      async write(chunk, _encoding, done) {
        lines += String(chunk).split('\n').length - 1
        await read.promise
        done()
      },
    })
    let sent = 0
    async function* send() {
      for (const chunk of chunks) {
        yield Buffer.from(chunk)
        sent++
      }
    }
    const options = { searcher, buffers: new BufferPool(), view, index, onFault() {}, hold }
    const ended = answerBulkSearch(Readable.from(send()), toOutput(reply), options)
    // More turns than the chunks need.
    for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate)
    const sentUnread = sent
    read.resolve()
    expect(await ended).toBe(true)
    reply.end()
    await once(reply, 'finish')
    expect([lines, held]).toEqual([chunks.length * Math.floor(65_536 / text.length), 0])
    return sentUnread
  }

  it('are collected while the budget has memory', async () => {
    expect(await answerUnread(2 ** 30)).toBe(chunks.length)
    const sentUnread = await answerUnread(1_048_576)
    expect(sentUnread).toBeGreaterThan(5)
    expect(sentUnread).toBeLessThan(chunks.length - 5)
    expect(await answerUnread(0)).toBeLessThan(4)
  })
})

import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { BufferPool } from '../src/search/answer-output.ts'
import { answerBulkSearch, MAX_ITEM_BYTES } from '../src/search/bulk-search.ts'
import { MAX_CONDITIONS } from '../src/core/price.ts'
import { PriceLineReader } from '../src/catalog/price-line-reader.ts'
import { listPartNames } from '../src/parts.ts'
import { errors } from '../src/errors.ts'
import { describeRefusal } from '../src/search/refusal/describe-refusal.ts'
import { Searcher } from '../src/search/searcher.ts'
import { measureCpuSeconds, createTestView } from './support/catalog.ts'
import { createPrice, toSearch } from './support/prices.ts'

// The cost limits of a request. They are in processor time: at least ten times the actual cost, and below a tenth of
// the cost that blocked a thread.

const searcher = new Searcher()
const one = createPrice({ charValues: [{ char: 'term', value: '12' }] })
const splitBytes = (text: string) => Array.from(Buffer.from(text), (byte) => Buffer.from([byte]))

const toOutput = (stream: Writable) => ({ stream, begin() {}, flush() {} })

async function searchBulk(
  { view, index }: Awaited<ReturnType<typeof createTestView>>,
  chunks: Iterable<Buffer>,
): Promise<string[]> {
  const written: string[] = []
  const reply = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      done()
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
  expect(await answerBulkSearch(Readable.from(chunks), toOutput(reply), options)).toBe(true)
  return written.join('').trim().split('\n')
}

describe('work is linear in bytes, for any split', () => {
  const padItem = (bytes: number) => {
    const text = JSON.stringify({ id: 'a', ...toSearch(one) })
    return `${text.slice(0, -1)}${' '.repeat(bytes - text.length)}}`
  }

  it('the longest item of a bulk request, byte by byte', async () => {
    const catalog = await createTestView([one])
    const item = padItem(MAX_ITEM_BYTES)
    const chunks = [...splitBytes(item), ...splitBytes(item)]
    let answers: string[] = []
    expect(await measureCpuSeconds(async () => (answers = await searchBulk(catalog, chunks)))).toBeLessThan(1.5)
    expect(answers.map((line) => JSON.parse(line).price.id)).toEqual([one.id, one.id])
  })

  it('the longest line of an import, byte by byte', async () => {
    let imported = 0
    const reader = new PriceLineReader(() => void imported++)
    const line = `${JSON.stringify(one)}${' '.repeat(65_000)}\n`
    const chunks = [...splitBytes(line), ...splitBytes(line)]
    expect(await measureCpuSeconds(() => chunks.forEach((chunk) => reader.addChunk(chunk)))).toBeLessThan(1)
    expect(imported).toBe(2)
    const long = splitBytes('x'.repeat(MAX_ITEM_BYTES + 1))
    expect(() => long.forEach((chunk) => reader.addChunk(chunk))).toThrow('line 3: must be at most')
  })
})

const PRICE_COUNT = 20_000
const OPERATORS = [
  { op: 'not', value: '1 Mbps' },
  { op: 'notIn', value: ['1 Mbps', '2 Mbps'] },
  { op: 'between', value: ['0 Mbps', '99999 Mbps'] },
]

it.each(listPartNames('index'))(
  'the cost of operators depends on the offering, not on the catalog: index %s',
  async (name) => {
    const offerings = 400
    const allPrices = Array.from({ length: PRICE_COUNT }, (_, i) =>
      createPrice({ offeringId: `o${i % offerings}`, charValues: [{ char: 'many', value: `${i} Mbps` }] }),
    )
    const { view, index } = await createTestView(allPrices, name)
    for (const operator of OPERATORS) {
      // The maximum number of conditions, none of which distinguishes prices.
      const charValues = Array.from({ length: MAX_CONDITIONS }, () => ({ char: 'many', ...operator }))
      const query = { ...toSearch(allPrices[0]!), charValues }
      const body = Buffer.from(JSON.stringify(query))
      const search = () => {
        expect(() => searcher.answer(body, view, index)).toThrow(`${PRICE_COUNT / offerings} prices`)
      }
      // Fills the caches.
      search()
      expect(await measureCpuSeconds(search)).toBeLessThan(0.1)
      const explained = Buffer.from(JSON.stringify({ ...query, explain: true }))
      let steps: { left: number }[] = []
      const source = { view, index, readPrices: async () => [] }
      const explain = async () =>
        (steps = JSON.parse(await describeRefusal(errors.PRICES_AMBIGUOUS(), explained, source)).explain)
      expect(await measureCpuSeconds(explain)).toBeLessThan(0.2)
      expect(steps.map(({ left }) => left)).toEqual(
        Array.from({ length: 3 + MAX_CONDITIONS }, () => PRICE_COUNT / offerings),
      )
    }
  },
)

it('a bulk request of expensive items yields to other requests', async () => {
  const alike = Array.from({ length: 20_000 }, (_, i) => createPrice({ charValues: [{ char: 'n', value: i }] }))
  const catalog = await createTestView(alike, 'map')
  const text = JSON.stringify({ id: 'a', ...toSearch(alike[0]!) })
  const ended = searchBulk(catalog, [Buffer.from(text.repeat(Math.floor(60_000 / text.length)))])
  let turns = 0
  let running = true
  const began = process.threadCpuUsage()
  const turn = () => {
    turns++
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  expect(await ended).toHaveLength(Math.floor(60_000 / text.length))
  running = false
  const { user, system } = process.threadCpuUsage(began)
  const took = (user + system) / 1_000
  expect(took).toBeGreaterThan(40)
  expect(turns).toBeGreaterThan(took / 40)
})

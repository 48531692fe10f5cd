import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { answerBulk, LONGEST_ITEM, Rooms } from '../src/bulk.ts'
import { Draft } from '../src/core/draft.ts'
import { MAX_CONDITIONS } from '../src/core/price.ts'
import { Terms } from '../src/core/terms.ts'
import { PriceLineReader } from '../src/price-line-reader.ts'
import { namesOf } from '../src/parts.ts'
import { Searcher } from '../src/searcher.ts'
import { cpuOf, viewOf } from './support/catalog.ts'
import { priceOf, searchOf } from './support/prices.ts'

// What a request may cost. Bounds are in processor time, ten times and more above what is needed and as much below what
// took a thread down.

const searcher = new Searcher()
const one = priceOf({ charValues: [{ char: 'term', value: '12' }] })
const byteByByte = (text: string) => Array.from(Buffer.from(text), (byte) => Buffer.from([byte]))

async function bulk({ view, index }: Awaited<ReturnType<typeof viewOf>>, chunks: Iterable<Buffer>): Promise<string[]> {
  const written: string[] = []
  const reply = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      done()
    },
  })
  const onFault = () => {}
  const options = { searcher, rooms: new Rooms(), view, index, onFault, begin: () => undefined, patience: 60_000 }
  expect(await answerBulk(Readable.from(chunks), reply, options)).toBe(true)
  return written.join('').trim().split('\n')
}

describe('work is linear in bytes, however they are cut', () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify({ id: 'a', ...searchOf(one) })
    return `${text.slice(0, -1)}${' '.repeat(bytes - text.length)}}`
  }

  it('the longest item of a bulk request, byte by byte', async () => {
    const catalog = await viewOf([one])
    const item = padded(LONGEST_ITEM)
    const chunks = [...byteByByte(item), ...byteByByte(item)]
    let answers: string[] = []
    expect(await cpuOf(async () => (answers = await bulk(catalog, chunks)))).toBeLessThan(1.5)
    expect(answers.map((line) => JSON.parse(line).price.id)).toEqual([one.id, one.id])
  })

  it('the longest line of an import, byte by byte', async () => {
    const reader = new PriceLineReader(new Draft(new Terms()), true, 10)
    const line = `${JSON.stringify(one)}${' '.repeat(65_000)}\n`
    const chunks = [...byteByByte(line), ...byteByByte(line)]
    expect(await cpuOf(() => chunks.forEach((chunk) => reader.take(chunk)))).toBeLessThan(1)
    expect(reader.imported).toBe(2)
    const long = byteByByte('x'.repeat(LONGEST_ITEM + 1))
    expect(() => long.forEach((chunk) => reader.take(chunk))).toThrow('line 3: longer')
  })
})

const MANY = 20_000
const OPERATORS = [
  { op: 'not', value: 'v1' },
  { op: 'notIn', value: ['v1', 'v2'] },
  { op: 'between', value: ['a', 'z'] },
]

it.each(namesOf('index'))('operators cost by the offering, not by the catalog: index %s', async (name) => {
  const offerings = 400
  const many = Array.from({ length: MANY }, (_, i) =>
    priceOf({ offeringId: `o${i % offerings}`, charValues: [{ char: 'many', value: `v${i}` }] }),
  )
  const { view, index } = await viewOf(many, name)
  for (const operator of OPERATORS) {
    // As many conditions as there may be, none of which tells prices apart.
    const charValues = Array.from({ length: MAX_CONDITIONS }, () => ({ char: 'many', ...operator }))
    const asked = { ...searchOf(many[0]!), charValues }
    const body = Buffer.from(JSON.stringify(asked))
    const search = () => {
      expect(() => searcher.answer(body, view, index)).toThrow(`${MANY / offerings} prices`)
    }
    // What is made once is made.
    search()
    expect(await cpuOf(search)).toBeLessThan(0.1)
    const explained = Buffer.from(JSON.stringify({ ...asked, explain: true }))
    let steps: { left: number }[] = []
    const explain = () => (steps = JSON.parse(searcher.answer(explained, view, index)).explain)
    expect(await cpuOf(explain)).toBeLessThan(0.2)
    expect(steps.map(({ left }) => left)).toEqual(Array.from({ length: 3 + MAX_CONDITIONS }, () => MANY / offerings))
  }
})

it('a bulk request of dear items lets others have their turn', async () => {
  const alike = Array.from({ length: 5_000 }, (_, i) => priceOf({ charValues: [{ char: 'n', value: i }] }))
  const catalog = await viewOf(alike, 'map')
  const text = JSON.stringify({ id: 'a', ...searchOf(alike[0]!) })
  const ended = bulk(catalog, [Buffer.from(text.repeat(Math.floor(60_000 / text.length)))])
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

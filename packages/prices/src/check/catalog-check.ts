import { hash } from 'node:crypto'
import { forEachInTurns, yieldTurn } from '@influencer-stats/runtime/async/yield'
import { PriceLineReader } from '../catalog/price-line-reader.ts'
import { ID_BYTES } from '../core/answer-block.ts'
import { findProblem } from '../core/encode-price.ts'
import { DEFAULT_CURRENCY, listValues, type CharValue, type Price } from '../core/price.ts'
import { normalizeId } from '../core/price-id.ts'
import { LearnedTypes, Terms } from '../core/terms.ts'
import { getValueType, isRange, type CharType } from '../core/values/term-value.ts'
import { compareAmounts, normalizeAmount, parseAmount, type Amount } from '../core/values/amount.ts'
import { FIRST_MOMENT, LAST_MOMENT, parseEnd, parseMoment, saturateEnd, saturateStart } from '../core/values/moment.ts'
import { convertCsv } from '../csv/read-csv.ts'
import type { PriceFormat } from '../messages.ts'
import { validatePriceLine } from '../price-schema.ts'
import { TopN } from '../core/collections/top-n.ts'
import { CheckedPrices, type CheckedPrice } from './checked-prices.ts'
import { ConflictFinder, type PriceConflict } from './find-conflicts.ts'

/** Maximum number of problems in a report. */
export const MAX_PROBLEMS = 100

export const PROBLEM_CODES = [
  'BAD_LINE',
  'CATALOG_FULL',
  'REPEATED_ID',
  'REPEATED_PRICE',
  'OVERLAPPING_PRICES',
] as const

/** A problem of a file. */
export interface CheckProblem {
  readonly code: (typeof PROBLEM_CODES)[number]
  readonly line: number
  /** The earlier line with which the line is in conflict. */
  readonly other?: number
  readonly detail: string
}

export interface CheckReport {
  /** Number of valid lines. */
  readonly prices: number
  /** The problems with the lowest lines. */
  readonly problems: readonly CheckProblem[]
  /** True if there are further problems. */
  readonly more: boolean
}

export interface CheckOptions {
  readonly format: PriceFormat
  /** The types of known characteristics, by their names. */
  readonly types?: ReadonlyMap<string, CharType>
  /** Maximum number of prices. Further prices are not compared. */
  readonly maxPrices?: number
}

/** Reports all problems of a file that is to be imported. */
export async function checkPrices(
  chunks: AsyncIterable<Uint8Array>,
  { format, types = new Map(), maxPrices = Infinity }: CheckOptions,
): Promise<CheckReport> {
  const check = new CatalogCheck(types, maxPrices)
  for await (const chunk of format === 'csv' ? convertCsv(chunks, check.onInvalid) : chunks) {
    check.addChunk(chunk)
    await yieldTurn()
  }
  return check.end()
}

class CatalogCheck {
  readonly #prices = new CheckedPrices()
  readonly #problems = new TopN<CheckProblem>(
    MAX_PROBLEMS,
    (a, b) =>
      a.line - b.line ||
      (a.other ?? 0) - (b.other ?? 0) ||
      PROBLEM_CODES.indexOf(a.code) - PROBLEM_CODES.indexOf(b.code),
  )
  readonly #reader = new PriceLineReader(
    (price, line) => this.#put(price, line),
    validatePriceLine,
    (line, reason) => this.onInvalid(line, reason),
  )
  /** The names of characteristics. Other names are not stored. */
  readonly #terms = new Terms()
  readonly #types: LearnedTypes
  readonly #maxPrices: number
  #count = 0
  #isFull = false

  constructor(types: ReadonlyMap<string, CharType>, maxPrices: number) {
    const codes = Array.from(types, ([char, type]) => [this.#terms.ensureName('char', char), type] as const)
    this.#types = new LearnedTypes(new Map(codes))
    this.#maxPrices = maxPrices
  }

  readonly onInvalid = (line: number, detail: string): void => this.#problems.add({ code: 'BAD_LINE', line, detail })

  addChunk(chunk: Uint8Array): void {
    this.#reader.addChunk(chunk)
  }

  async end(): Promise<CheckReport> {
    this.#reader.end()
    const prices = this.#prices
    const rows = await prices.sort()
    let group = -1
    let finder: ConflictFinder | undefined
    await forEachInTurns(rows.length, (i) => {
      const price = prices.get(rows[i]!)
      if (price.group !== group) {
        group = price.group
        const isAlone = i + 1 === rows.length || prices.getGroup(rows[i + 1]!) !== group
        finder = isAlone ? undefined : new ConflictFinder(listDefaults(prices, rows, i))
      }
      for (const conflict of finder?.add(price) ?? []) this.#problems.add(toProblem(conflict))
    })
    const { list, more } = this.#problems.take()
    return { prices: this.#count, problems: list, more }
  }

  #put(price: Price, line: number) {
    const problem = findProblem(price, this.#terms, this.#types)
    if (problem) return problem
    this.#count++
    for (const { char, value } of price.charValues)
      for (const one of listValues(value)) this.#types.learn(this.#terms.ensureName('char', char), getValueType(one)!)
    if (this.#prices.size >= this.#maxPrices) {
      const detail = `more than ${this.#maxPrices} prices`
      if (!this.#isFull) this.#problems.add({ code: 'CATALOG_FULL', line, detail })
      this.#isFull = true
      return undefined
    }
    const other = this.#prices.put(toDigest(normalizeId(price.id)), {
      line,
      group: this.#prices.ensureGroup(toDigest(toConditions(price))),
      value: toNumber(price.value),
      isDefault: price.default === true,
      from: saturateStart(price.from === undefined ? FIRST_MOMENT : parseMoment(price.from)!),
      to: saturateEnd(price.to === undefined ? LAST_MOMENT : parseEnd(price.to)!),
    })
    if (other !== undefined)
      this.#problems.add({
        code: 'REPEATED_ID',
        line,
        other,
        detail: `line ${other} has the same id, and is not imported`,
      })
    return undefined
  }
}

/** Yields the default prices of the group that begins at a position of the sorted rows. */
function* listDefaults(prices: CheckedPrices, rows: Uint32Array, start: number): Generator<CheckedPrice> {
  const group = prices.getGroup(rows[start]!)
  for (let i = start; i < rows.length && prices.getGroup(rows[i]!) === group; i++)
    if (prices.isDefault(rows[i]!)) yield prices.get(rows[i]!)
}

function toProblem({ code, price, other: another }: PriceConflict): CheckProblem {
  const [other, line] = [price.line, another.line].sort((a, b) => a - b) as [number, number]
  const reason = code === 'REPEATED_PRICE' ? 'the same value' : 'another value, and no default price decides'
  return { code, line, other, detail: `line ${other} has the same conditions, overlapping dates and ${reason}` }
}

// With 16 of the bytes of SHA-256, two texts of a file do not have the same digest.
const toDigest = (text: string): Uint8Array => hash('sha256', text, 'buffer').subarray(0, ID_BYTES)

/** Returns the conditions of a price as JSON, which does not depend on the order of characteristics and lists. */
function toConditions({ offeringId, groupId, priceSpecId, currency = DEFAULT_CURRENCY, charValues }: Price): string {
  const values = charValues.map(({ char, value }) => JSON.stringify([char, ...sortValues(value)])).sort()
  return JSON.stringify([offeringId, groupId, priceSpecId, currency, values])
}

/** A list of one value equals this value. */
const sortValues = (value: CharValue['value']): string[] =>
  listValues(value)
    .map((one) => JSON.stringify(isRange(one) ? { from: one.from, to: one.to } : one))
    .sort()

/** Returns a number that equal values share, however they are written. */
function toNumber(value: Amount): number {
  const amount = typeof value === 'number' ? value : parseAmount(value)!
  const number = Number(amount)
  if (typeof amount === 'number' || compareAmounts(amount, number) === 0) return number + 0
  // Not an integer, so that few other values have it.
  return Buffer.from(toDigest(normalizeAmount(amount))).readUIntBE(0, 6) + 1 / 8
}

import { Problem } from '@influencer-stats/runtime/problems'
import { errors as house } from '@influencer-stats/runtime/errors'
import { Literal } from './core/literal.ts'
import { MAX_TEXT } from './core/price.ts'
import { Query, FREE } from './core/query.ts'
import { createRoom, type Room } from './core/render.ts'
import type { SearchRequest } from './core/request.ts'
import { resolve } from './core/resolve.ts'
import { RequestScanner } from './core/scanner.ts'
import { errors } from './errors.ts'
import { countOf, NONE, type PriceIndex } from './index/index.ts'
import { fitsBulk, fitsSearch, misfitOf } from './search-schema.ts'
import type { View } from './view.ts'

/** How many rows fit after each condition. */
export interface Step {
  readonly condition: string
  readonly left: number
}

/** Room for the longest answer there can be: names are at most 256 characters, 6 bytes each when escaped. */
const ROOM = 8_192

const LONGEST_MESSAGE = 600
const PRICE = new Literal('{"price":')
const NO_ERROR = new Literal(',"error":{},"id":"')
const END = new Literal('"}\n')

const reply = (miss: { code: keyof typeof all; detail: string }) => all[miss.code](miss.detail)
const all = { ...errors, VALIDATION_FAILED: house.VALIDATION_FAILED }

/** Searches, for one thread: from the bytes of a request to the bytes of its answer. */
export class Searcher {
  readonly #scanner = new RequestScanner()
  readonly #query = new Query()
  readonly #room = createRoom(ROOM)

  /** Answers a request. @throws Problem */
  answer(body: Buffer, view: View, index: PriceIndex): string {
    const scanner = this.#scanner
    const usual = scanner.scan(body, 0, view, this.#query)
    if (usual && scanner.idTo < 0 && scanner.end === body.length) {
      const row = index.find(this.#query)
      if (row < 0) throw refusal(row)
      return this.#render(row, view)
    }
    const request = this.#parse(body)
    const miss = resolve(request, view, this.#query)
    if (miss) throw reply(miss)
    const row = index.find(this.#query)
    if (!request.explain) {
      if (row < 0) throw refusal(row)
      return this.#render(row, view)
    }
    const explain = JSON.stringify(explainSteps(request, this.#query, index))
    if (row >= 0) return `${this.#render(row, view).slice(0, -1)},"explain":${explain}}`
    const { code, detail } = refusal(row)
    return `{"error":${JSON.stringify({ code, message: detail })},"explain":${explain}}`
  }

  /**
   * Answers the item that begins at `start`, if it is of the usual shape and a price fits.
   * @returns where the answer ends in `to`, which must have room for `ITEM_ROOM`; -1 if this is for `answerItem`
   */
  answerUsual(bytes: Buffer, start: number, view: View, index: PriceIndex, to: Room, at: number): number {
    const scanner = this.#scanner
    if (!scanner.scan(bytes, start, view, this.#query) || scanner.idTo < 0) return -1
    const row = index.find(this.#query)
    if (row < 0) return -1
    let next = NO_ERROR.write(to.view, view.write(row, to, PRICE.write(to.view, at)))
    for (let i = scanner.idFrom; i < scanner.idTo; i++) to.bytes[next++] = bytes[i]!
    return END.write(to.view, next)
  }

  /** Where the item ended that `answerUsual` has answered. */
  get itemEnd(): number {
    return this.#scanner.end
  }

  /** Answers one item, whatever it is: what is wrong with it is its answer. Returns where that ends in `to`. */
  answerItem(bytes: Buffer, view: View, index: PriceIndex, to: Room, at: number): number {
    let id: string | undefined
    try {
      const value = parseJson(bytes)
      id = idOf(value)
      if (!fitsBulk(value)) throw house.VALIDATION_FAILED(misfitOf(fitsBulk))
      const miss = resolve(value, view, this.#query)
      if (miss) throw reply(miss)
      const row = index.find(this.#query)
      if (row < 0) throw refusal(row)
      return at + to.bytes.write(`{"price":${this.#render(row, view)},"error":{},"id":${JSON.stringify(id)}}\n`, at)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return at + to.bytes.write(errorLine(error, id), at)
    }
  }

  #render(row: number, view: View): string {
    return this.#room.bytes.toString('utf8', 0, view.write(row, this.#room, 0))
  }

  #parse(body: Buffer): SearchRequest {
    const value = parseJson(body)
    if (!fitsSearch(value)) throw house.VALIDATION_FAILED(misfitOf(fitsSearch))
    return value
  }
}

/** The most bytes the answer to an item can take. */
export const ITEM_ROOM = ROOM

export const errorLine = ({ code, detail, title }: Problem, id: string | undefined): string =>
  `${JSON.stringify({ error: { message: (detail ?? title).slice(0, LONGEST_MESSAGE), code }, id: id ?? null })}\n`

const refusal = (found: number): Problem =>
  found === NONE ? errors.PRICE_NOT_FOUND() : errors.PRICES_AMBIGUOUS(`${countOf(found)} prices fit`)

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw house.BAD_JSON()
  }
}

function idOf(item: unknown): string | undefined {
  const { id } = (item ?? {}) as { id?: unknown }
  return typeof id === 'string' && id.length <= MAX_TEXT ? id : undefined
}

function explainSteps(request: SearchRequest, query: Query, index: PriceIndex): Step[] {
  const part = new Query()
  const steps: Step[] = []
  const step = (condition: string) => steps.push({ condition, left: index.count(part) })
  part.reset(query.offering, FREE, FREE)
  step(`offeringId ${request.offeringId}`)
  part.group = query.group
  step(`groupId ${request.groupId}`)
  part.spec = query.spec
  step(`priceSpecId ${request.priceSpecId}`)
  let any = 0
  for (const { char, op = 'equals', value } of request.charValues) {
    if (op === 'equals') {
      part.values[part.count] = query.values[part.count]!
      part.count++
    } else part.any = query.any.slice(0, ++any)
    step(`${char} ${op} ${JSON.stringify(value)}`)
  }
  if (request.at !== undefined) {
    part.at = query.at
    step(`at ${request.at}`)
  }
  return steps
}

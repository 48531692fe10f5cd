import { toProblem } from '@influencer-stats/runtime/problem-replies'
import type { Problem, ProblemExtras } from '@influencer-stats/runtime/problems'
import { errors as house } from '@influencer-stats/runtime/errors'
import { skipSpace } from './core/items.ts'
import { Literal } from './core/literal.ts'
import { Lowest } from './core/lowest.ts'
import { MAX_TEXT } from './core/price.ts'
import { Query } from './core/query.ts'
import { createRoom, type Room } from './core/render.ts'
import type { SearchRequest } from './core/request.ts'
import { choicesOf, resolve, type Words } from './core/resolve.ts'
import { RequestScanner } from './core/scanner.ts'
import { errors, problemOf } from './errors.ts'
import { countOf, NONE, rowsOf, type Finder } from './index/index.ts'
import { parseJson, textOf } from './json-body.ts'
import { fitsBulk, fitsSearch, misfitOf } from './search-schema.ts'
import type { View } from './view.ts'

/** How many rows fit after each condition. */
export interface Step {
  readonly condition: string
  readonly left: number
}

/** Hears of what went wrong with an item; of what is the client's fault, too. */
export type OnFault = (error: unknown, problem: Problem) => void

/** Room for the longest answer there can be: names are at most 256 characters, 6 bytes each when escaped. */
const ROOM = 8_192

/** So many of the prices that fit are named where none of them is the default. */
export const MOST_CANDIDATES = 10

/** Items that are answered together. */
const GROUP = 16
const LONGEST_MESSAGE = 600
const PRICE = new Literal('{"price":')
const NO_ERROR = new Literal(',"error":{},"id":"')
const END = new Literal('"}\n')

/** Searches, for one thread: from the bytes of a request to the bytes of its answer. */
export class Searcher {
  readonly #scanner = new RequestScanner()
  readonly #query = new Query()
  readonly #room = createRoom(ROOM)
  // The group of items that is answered now: its queries, where in the request their ids lie and they end, and their rows.
  readonly #queries = Array.from({ length: GROUP }, () => new Query())
  readonly #idsFrom = new Int32Array(GROUP)
  readonly #idsTo = new Int32Array(GROUP)
  readonly #ends = new Int32Array(GROUP)
  readonly #rows = new Int32Array(GROUP)

  /** Answers a request. @throws Problem */
  answer(body: Buffer, view: View, index: Finder): string {
    const scanner = this.#scanner
    const usual = scanner.scan(body, 0, view, this.#query)
    if (usual && scanner.idTo < 0 && scanner.end === body.length)
      return this.#found(index.find(this.#query), view, index)
    const request = this.#resolved(body, view)
    const row = index.find(this.#query)
    if (!request.explain) return this.#found(row, view, index)
    const explain = JSON.stringify(explainSteps(request, view, this.#query, index))
    if (row >= 0) return `${this.#render(row, view).slice(0, -1)},"explain":${explain}}`
    const { code, detail } = refusal(row)
    return `{"error":${JSON.stringify({ code, message: detail })},"explain":${explain}}`
  }

  /** All rows that a request finds, in no order. @throws Problem */
  rows(body: Buffer, view: View, index: Finder): number[] {
    this.#resolved(body, view)
    return rowsOf(index, this.#query)
  }

  #resolved(body: Buffer, view: View): SearchRequest {
    const request = this.#parse(body)
    const miss = resolve(request, view, this.#query)
    if (miss) throw problemOf(miss)
    return request
  }

  /** @param row what `find` gave for the query. @throws Problem */
  #found(row: number, view: View, index: Finder): string {
    if (row >= 0) return this.#render(row, view)
    if (row === NONE) throw refusal(row)
    const first = new Lowest<number>(MOST_CANDIDATES, (a, b) => a - b)
    for (const one of rowsOf(index, this.#query)) first.offer(one)
    const candidates = first.take().list.map((one) => JSON.parse(this.#render(one, view)))
    throw refusal(row, { candidates })
  }

  /**
   * Answers items as long as they are of the usual shape and there is room. A group of them is read, found and written,
   * each step for all: the processor waits for memory at each, and goes on with the next item meanwhile, which one by one
   * it cannot. 3,000 items take 3.4 ms in place of 4.5.
   * @param until when to stop, after a group at least (as `performance.now()` counts)
   * @returns where the first item begins that is left to `answerItem`, or that there was no room or time for
   */
  answerUsual(bytes: Buffer, start: number, view: View, index: Finder, to: Room, until = Infinity): number {
    const rows = this.#rows
    let answered = start
    for (;;) {
      const count = this.#scanGroup(bytes, answered, view)
      if (count === 0) return skipSpace(bytes, answered)
      for (let i = 0; i < count; i++) rows[i] = index.find(this.#queries[i]!)
      try {
        for (let i = 0; i < count; i++) if (rows[i]! >= 0) view.fetch(rows[i]!)
        for (let i = 0; i < count; i++) {
          if (isFull(to)) return skipSpace(bytes, answered)
          if (rows[i]! < 0) this.#refuseItem(bytes, i, to)
          else this.#writeItem(bytes, i, view, to)
          answered = this.#ends[i]!
        }
      } catch {
        // One of them cannot be read: the one whose turn it is, alone, will say so.
        return skipSpace(bytes, answered)
      }
      if (performance.now() >= until) return skipSpace(bytes, answered)
    }
  }

  /** @returns how many items, of a group at most, are of the usual shape */
  #scanGroup(bytes: Buffer, start: number, view: View): number {
    const scanner = this.#scanner
    let end = start
    for (let i = 0; i < GROUP; i++) {
      const at = skipSpace(bytes, end)
      if (at === bytes.length || !scanner.scan(bytes, at, view, this.#queries[i]!) || scanner.idTo < 0) return i
      end = scanner.end
      this.#idsFrom[i] = scanner.idFrom
      this.#idsTo[i] = scanner.idTo
      this.#ends[i] = end
    }
    return GROUP
  }

  #writeItem(bytes: Buffer, item: number, view: View, to: Room): void {
    let at = NO_ERROR.write(to.view, view.write(this.#rows[item]!, to, PRICE.write(to.view, to.filled)))
    for (let i = this.#idsFrom[item]!; i < this.#idsTo[item]!; i++) to.bytes[at++] = bytes[i]!
    to.filled = END.write(to.view, at)
  }

  #refuseItem(bytes: Buffer, item: number, to: Room): void {
    const id = bytes.toString('latin1', this.#idsFrom[item], this.#idsTo[item])
    writeLine(to, errorLine(refusal(this.#rows[item]!), id))
  }

  /**
   * Answers one item, whatever it is: what is wrong with it is its answer. There must be room.
   * @param onFault told of what is wrong with us
   */
  answerItem(bytes: Buffer, view: View, index: Finder, to: Room, onFault: OnFault): void {
    let id: string | undefined
    try {
      const value = parseJson(textOf(bytes))
      id = idOf(value)
      if (!fitsBulk(value)) throw house.VALIDATION_FAILED(misfitOf(fitsBulk))
      const miss = resolve(value, view, this.#query)
      if (miss) throw problemOf(miss)
      const row = index.find(this.#query)
      if (row < 0) throw refusal(row)
      writeLine(to, `{"price":${this.#render(row, view)},"error":{},"id":${JSON.stringify(id)}}\n`)
    } catch (error) {
      const problem = toProblem(error)
      onFault(error, problem)
      writeLine(to, errorLine(problem, id))
    }
  }

  #render(row: number, view: View): string {
    return this.#room.bytes.toString('utf8', 0, view.write(row, this.#room, 0))
  }

  #parse(body: Buffer): SearchRequest {
    const value = parseJson(textOf(body))
    if (!fitsSearch(value)) throw house.VALIDATION_FAILED(misfitOf(fitsSearch))
    return value
  }
}

/** Memory for the answers to items: so many bytes until it is full. */
export const createAnswerRoom = (bytes: number): Room => createRoom(bytes + ROOM)

export const isFull = ({ bytes, filled }: Room): boolean => filled > bytes.length - ROOM

export function writeLine(to: Room, line: string): void {
  to.filled += to.bytes.write(line, to.filled)
}

export const errorLine = ({ code, detail, title }: Problem, id: string | undefined): string =>
  `${JSON.stringify({ error: { message: (detail ?? title).slice(0, LONGEST_MESSAGE), code }, id: id ?? null })}\n`

const refusal = (found: number, members?: ProblemExtras['members']): Problem =>
  found === NONE
    ? errors.PRICE_NOT_FOUND()
    : errors.PRICES_AMBIGUOUS(`${countOf(found)} prices fit`, { ...(members && { members }) })

function idOf(item: unknown): string | undefined {
  const { id } = (item ?? {}) as { id?: unknown }
  return typeof id === 'string' && (id.length <= MAX_TEXT || [...id].length <= MAX_TEXT) ? id : undefined
}

function explainSteps(request: SearchRequest, words: Words, query: Query, index: Finder): Step[] {
  const { offeringId, groupId, priceSpecId, charValues, at } = request
  const conditions = [
    `offeringId ${offeringId}`,
    `groupId ${groupId}`,
    `priceSpecId ${priceSpecId}`,
    ...charValues.map(({ char, op = 'equals', value }) => `${char} ${op} ${JSON.stringify(value)}`),
    ...(at === undefined ? [] : [`at ${at}`]),
  ]
  const left = index.left(query, choicesOf(request, words))
  return conditions.map((condition, i) => ({ condition, left: left[i]! }))
}

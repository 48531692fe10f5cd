import { toProblem } from '@influencer-stats/runtime/problem-replies'
import type { Problem } from '@influencer-stats/runtime/problems'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { skipComma, skipSpace, type ItemScanner } from './item-scanner.ts'
import { Literal } from '../core/bytes/literal.ts'
import { MAX_TEXT_LENGTH } from '../core/price.ts'
import { SearchQuery } from '../core/search-query.ts'
import { createOutputBuffer, type OutputBuffer } from './render-answer.ts'
import { resolveSearch } from './row-tests.ts'
import { RequestScanner } from './request-scanner.ts'
import { errors, toResolveProblem } from '../errors.ts'
import { findRow, toMatchCount, NO_MATCH, type RowFinder } from '../index/price-index.ts'
import { findNumberSource, parseJson, readBodyText } from './json-body.ts'
import { explainSearch } from './refusal/explain-search.ts'
import { readSearch, toExactSearch } from './read-search.ts'
import { isBulkItem, getValidationError } from './search-schema.ts'
import type { CatalogView } from './catalog-view.ts'

/** Receives the error of an item, including client errors. */
export type OnItemError = (error: unknown, problem: Problem) => void

/** Maximum size of an answer (bytes): names have at most 256 characters, 6 bytes each when escaped. */
const MAX_ANSWER_BYTES = 8_192

/** Number of items that are answered together. */
const GROUP_ITEMS = 16
const MAX_MESSAGE_CHARS = 600
const NO_EXPLAIN = 'item/explain must be absent, as only a single search explains; received true'
const PRICE = new Literal('{"price":')
const NO_ERROR = new Literal(',"error":{},"id":')
const END = new Literal('}\n')

/** The searcher of a thread: reads requests from bytes, and renders the bytes of their answers. */
export class Searcher {
  readonly #scanner = new RequestScanner()
  readonly #query = new SearchQuery()
  readonly #buffer = createOutputBuffer(MAX_ANSWER_BYTES)
  // The current group of items: queries, id ranges in the request, ends, and rows.
  readonly #queries = Array.from({ length: GROUP_ITEMS }, () => new SearchQuery())
  readonly #idsFrom = new Int32Array(GROUP_ITEMS)
  readonly #idsTo = new Int32Array(GROUP_ITEMS)
  readonly #ends = new Int32Array(GROUP_ITEMS)
  readonly #rows = new Int32Array(GROUP_ITEMS)

  /**
   * Answers a request.
   * @throws Problem; `describeRefusal` describes the refusals, also for `explain`
   */
  answer(body: Buffer, view: CatalogView, index: RowFinder): string {
    const scanner = this.#scanner
    const isScanned = scanner.scan(body, 0, view, this.#query)
    if (isScanned && scanner.end === body.length) return this.#renderFound(index.find(this.#query), view)
    const request = readSearch(body)
    const failure = resolveSearch(request, view, this.#query)
    if (failure) throw toResolveProblem(failure)
    const answer = this.#renderFound(findRow(index, this.#query), view)
    if (!request.explain) return answer
    return `${answer.slice(0, -1)},"explain":${JSON.stringify(explainSearch(request, view, this.#query, index))}}`
  }

  /** @param row the result of `find` for the query. @throws Problem */
  #renderFound(row: number, view: CatalogView): string {
    if (row < 0) throw createRefusal(row)
    return this.#render(row, view)
  }

  /**
   * Answers items while they have the usual shape (see `RequestScanner`) and the buffer has space. It reads, finds and
   * writes a whole group step by step: each step waits for memory, and the processor continues with the next item
   * meanwhile. With one item at a time it could not. 3,000 items take 3.4 ms instead of 4.5.
   * @param start start of the first item
   * @param items scanner that has found this start; it counts the answered items
   * @param until time to stop, after at least one group (as `performance.now()` counts)
   * @returns the end of the last answered item; `start` if the first item needs `answerItem`
   */
  answerScanned(
    bytes: Buffer,
    start: number,
    items: ItemScanner,
    view: CatalogView,
    index: RowFinder,
    to: OutputBuffer,
    until = Infinity,
  ): number {
    const rows = this.#rows
    const skip = items.isArray ? skipComma : skipSpace
    const first = items.count
    let end = start
    let answered = 0
    try {
      for (let at = start; ; at = skip(bytes, end)) {
        const count = this.#scanGroup(bytes, at, skip, view)
        if (count === 0) break
        for (let i = 0; i < count; i++) rows[i] = index.find(this.#queries[i]!)
        for (let i = 0; i < count; i++) if (rows[i]! >= 0) view.prefetch(rows[i]!)
        for (let i = 0; i < count && !isFull(to); i++) {
          if (rows[i]! < 0) this.#refuseItem(bytes, i, first + answered + 1, to)
          else this.#writeItem(bytes, i, view, to)
          end = this.#ends[i]!
          answered++
        }
        if (isFull(to) || performance.now() >= until) break
      }
    } catch {
      // One item of the group cannot be read. It reports its error when it is answered alone.
    }
    if (answered > 0) items.endItems(answered)
    return end
  }

  /** @returns number of items of the usual shape, at most one group */
  #scanGroup(bytes: Buffer, start: number, skip: typeof skipSpace, view: CatalogView): number {
    const scanner = this.#scanner
    let at = start
    for (let i = 0; i < GROUP_ITEMS; i++) {
      if (at === bytes.length || !scanner.scan(bytes, at, view, this.#queries[i]!) || scanner.idTo < 0) return i
      this.#idsFrom[i] = scanner.idFrom
      this.#idsTo[i] = scanner.idTo
      this.#ends[i] = scanner.end
      at = skip(bytes, scanner.end)
    }
    return GROUP_ITEMS
  }

  #writeItem(bytes: Buffer, item: number, view: CatalogView, to: OutputBuffer): void {
    let at = NO_ERROR.write(to.view, view.write(this.#rows[item]!, to, PRICE.write(to.view, to.filled)))
    for (let i = this.#idsFrom[item]!; i < this.#idsTo[item]!; i++) to.bytes[at++] = bytes[i]!
    to.filled = END.write(to.view, at)
  }

  #refuseItem(bytes: Buffer, item: number, number: number, to: OutputBuffer): void {
    const id = bytes.toString('latin1', this.#idsFrom[item], this.#idsTo[item])
    writeLine(to, renderErrorLine(createRefusal(this.#rows[item]!), number, id))
  }

  /**
   * Answers one item of any shape. The answer to an invalid item is its error. The buffer must not be full (`isFull`).
   * @param number the item's number in the request, from 1
   * @param onFault receives the error of an item
   * @param now the moment that `now` means
   */
  answerItem(
    bytes: Buffer,
    number: number,
    view: CatalogView,
    index: RowFinder,
    to: OutputBuffer,
    onFault: OnItemError,
    now?: number,
  ): void {
    let id: string | undefined
    try {
      const text = readBodyText(bytes)
      const value = parseJson(text)
      id = readItemId(value, text)
      if (!isBulkItem(value)) throw commonErrors.VALIDATION_FAILED(getValidationError(isBulkItem, 'item'))
      if (id === undefined) throw commonErrors.VALIDATION_FAILED(`item/id must have at most ${MAX_TEXT_LENGTH} digits`)
      if (value.explain) throw commonErrors.VALIDATION_FAILED(NO_EXPLAIN)
      const failure = resolveSearch(toExactSearch(value, text), view, this.#query, now)
      if (failure) throw toResolveProblem(failure)
      const row = findRow(index, this.#query)
      if (row < 0) throw createRefusal(row)
      writeLine(to, `{"price":${this.#render(row, view)},"error":{},"id":${id}}\n`)
    } catch (error) {
      const problem = toProblem(error)
      onFault(error, problem)
      writeLine(to, renderErrorLine(problem, number, id))
    }
  }

  #render(row: number, view: CatalogView): string {
    return this.#buffer.bytes.toString('utf8', 0, view.write(row, this.#buffer, 0))
  }
}

/** Creates a buffer for the answers to items that is full after this number of bytes. */
export const createAnswerBuffer = (bytes: number): OutputBuffer => createOutputBuffer(bytes + MAX_ANSWER_BYTES)

export const isFull = ({ bytes, filled }: OutputBuffer): boolean => filled > bytes.length - MAX_ANSWER_BYTES

export function writeLine(to: OutputBuffer, line: string): void {
  to.filled += to.bytes.write(line, to.filled)
}

/**
 * @param item the item's number in the request, from 1
 * @param id its id as JSON
 */
export const renderErrorLine = ({ code, detail, title }: Problem, item: number, id = 'null'): string =>
  `{"error":${JSON.stringify({ message: (detail ?? title).slice(0, MAX_MESSAGE_CHARS), code, item })},"id":${id}}\n`

const createRefusal = (found: number): Problem =>
  found === NO_MATCH ? errors.PRICE_NOT_FOUND() : errors.PRICES_AMBIGUOUS(`${toMatchCount(found)} prices match`)

/** Returns the id of an item as JSON: a number as it was written. Undefined if it is neither text nor number, or too long. */
function readItemId(item: unknown, text: string): string | undefined {
  const { id } = (item ?? {}) as { id?: unknown }
  if (typeof id === 'number') {
    const source = findNumberSource(text, 'id')
    return source.length <= MAX_TEXT_LENGTH ? source : undefined
  }
  if (typeof id !== 'string') return undefined
  return id.length <= MAX_TEXT_LENGTH || [...id].length <= MAX_TEXT_LENGTH ? JSON.stringify(id) : undefined
}

import {
  createRequester,
  readJson,
  readLines,
  ignoreErrors,
  readChunks,
  type ClientOptions,
  type QueryParameters,
} from '@influencer-stats/runtime/service-client'
import type { CheckProblem, CheckReport } from './check/catalog-check.ts'
import type { Amount } from './core/values/amount.ts'
import type { Price, PricePatch, SimplePrice } from './core/price.ts'
import { parsePriceJson } from './core/price-json.ts'
import type { SearchConditions, SearchRequest } from './search/search-request.ts'
import type { FacetLists } from './search/facets/compute-facets.ts'
import type { ExportRange, ImportResult, ImportOptions, PriceFormat, RemovalResult } from './messages.ts'

export type {
  CheckProblem,
  CheckReport,
  SearchConditions as Conditions,
  ExportRange,
  FacetLists as Facets,
  ImportResult as Imported,
  Price,
  PricePatch,
  PriceFormat,
  RemovalResult as Removed,
  SearchRequest,
  SimplePrice,
}

/** The matching price. */
export interface FoundPrice {
  readonly id: string
  readonly spec: string
  /** A number, or the text of a decimal that a number cannot represent. */
  readonly value: Amount
  readonly currency: string
}

export interface AllOptions extends ExportRange {
  /** The order: by value, from the lowest or the highest one, instead of by id. */
  readonly sort?: 'value' | '-value'
  /** With `sort`, the value of the price `after`. */
  readonly afterValue?: Amount
  readonly index?: string
}

/** The current selection, and the requested lists. */
export interface FacetsRequest extends Partial<SearchConditions> {
  /** Returns one list only. */
  readonly facet?: 'offerings' | 'groups' | 'specs' | 'characteristics'
  /** Returns the values of one characteristic only. */
  readonly char?: string
  /** Returns only names and values that contain this text, in any case and Unicode form. */
  readonly q?: string
  /** The order of values: by name (default; numbers, with or without a unit, by size), or the highest count first. */
  readonly sort?: 'name' | 'count'
  /** Also returns the ranges of the values of the prices that match, by currency. */
  readonly range?: boolean
  readonly limit?: number
  /** `next` of the previous page; requires `facet` or `char`. */
  readonly after?: string
  readonly index?: string
}

/** The API of a prices service. A price that does not exist is `undefined`; other refusals are a `ServiceError`. */
export interface PricesClient {
  search(request: SearchRequest, index?: string): Promise<FoundPrice | undefined>
  /** Yields every price that matches the given conditions, in the order of ids or values. */
  searchAll(request: Partial<SearchConditions>, options?: AllOptions): AsyncIterable<FoundPrice>
  /** Returns the values that can still be chosen. */
  getFacets(request?: FacetsRequest): Promise<FacetLists>
  get(id: string): Promise<Price | undefined>
  put(price: Price): Promise<void>
  /** Changes fields of a price; null removes an optional one. Returns the price; undefined if there is none. */
  patch(id: string, patch: PricePatch): Promise<Price | undefined>
  /** @returns true if it existed */
  delete(id: string): Promise<boolean>
  /**
   * Deletes all prices that match at least one condition, or none of them.
   * @param options.dryRun false to delete them; by default they are only counted
   * @param options.expected the number of prices that must match
   */
  deleteWhere(
    conditions: Partial<SearchConditions>,
    options?: { readonly dryRun?: boolean; readonly expected?: number },
  ): Promise<RemovalResult>
  /** Yields NDJSON or CSV bytes as they arrive, one price per line, in the order of ids. */
  export(range?: ExportRange): AsyncIterable<Uint8Array>
  /**
   * Sends NDJSON or CSV bytes, one price per line. All or nothing.
   * @param options.replace replaces all existing prices; with `empty` even if no price is imported
   */
  import(lines: PriceLines, options?: ImportRequest): Promise<ImportResult>
  /**
   * Reports the problems of an import, and imports nothing.
   * @param options.replace does not compare the types of characteristics with those of the existing prices
   */
  check(lines: PriceLines, options?: Pick<ImportRequest, 'format' | 'gzip' | 'replace'>): Promise<CheckReport>
}

/** The bytes of a file of prices. */
export type PriceLines = string | Blob | AsyncIterable<Uint8Array>

export interface ImportRequest extends Partial<ImportOptions> {
  /** By default NDJSON. */
  readonly format?: PriceFormat | undefined
  /** True if the bytes are compressed by gzip. */
  readonly gzip?: boolean | undefined
}

const MEDIA_TYPES: Readonly<Record<PriceFormat, string>> = { ndjson: 'application/x-ndjson', csv: 'text/csv' }

/** Reads a price with its exact value. */
const readPrice = async <P extends FoundPrice | Price>(reply: Promise<Response>): Promise<P> =>
  parsePriceJson(await (await reply).text()) as P

/** Returns conditions as parameters. */
const toParameters = <T extends Partial<SearchConditions>>({ charValues, ...others }: T) => ({
  ...others,
  charValues: charValues && JSON.stringify(charValues),
})

/** Creates a client for the service at `url`, in a browser or in Node. */
export function createPricesClient(url: string, options: ClientOptions = {}): PricesClient {
  const request = createRequester(url, options)
  const buildSearchPath = (index = 'bitmap') => `/v1/search/${encodeURIComponent(index)}/prices`
  function sendLines(body: PriceLines, { format = 'ndjson', gzip }: ImportRequest, query: QueryParameters) {
    const headers = { 'content-type': MEDIA_TYPES[format], ...(gzip && { 'content-encoding': 'gzip' }) }
    return request('POST', '/prices/import', { body, headers, query })
  }

  return {
    search: (json, index) =>
      ignoreErrors(readPrice<FoundPrice>(request('POST', buildSearchPath(index), { json })), 'PRICE_NOT_FOUND'),
    async *searchAll(json, { index, ...range } = {}) {
      const reply = await request('POST', buildSearchPath(index), { json, query: { all: true, ...range } })
      for await (const line of readLines(reply)) yield parsePriceJson(line) as FoundPrice
    },
    getFacets: (query = {}) => readJson(request('GET', '/facets', { query: toParameters(query) })),
    get: (id) => ignoreErrors(readPrice<Price>(request('GET', `/prices/${encodeURIComponent(id)}`)), 'PRICE_NOT_FOUND'),
    async put(price) {
      const reply = await request('PUT', `/prices/${encodeURIComponent(price.id)}`, { json: price })
      await reply.text()
    },
    patch: (id, json) =>
      ignoreErrors(
        readPrice<Price>(request('PATCH', `/prices/${encodeURIComponent(id)}`, { json })),
        'PRICE_NOT_FOUND',
      ),
    async delete(id) {
      const reply = request('DELETE', `/prices/${encodeURIComponent(id)}`)
      return (await ignoreErrors(reply, 'PRICE_NOT_FOUND')) !== undefined
    },
    deleteWhere: (conditions, options) =>
      readJson(request('DELETE', '/prices', { query: { ...toParameters(conditions), ...options } })),
    async *export(range = {}) {
      yield* readChunks(await request('GET', '/prices', { query: { ...range } }))
    },
    import: (body, importRequest = {}) =>
      readJson(sendLines(body, importRequest, { replace: importRequest.replace, empty: importRequest.empty })),
    check: (body, importRequest = {}) =>
      readJson(sendLines(body, importRequest, { replace: importRequest.replace, check: true })),
  }
}

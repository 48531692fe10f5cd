import {
  createRequester,
  readJson,
  readLines,
  ignoreErrors,
  readChunks,
  type ClientOptions,
} from '@influencer-stats/runtime/service-client'
import type { Price } from './core/price.ts'
import type { SearchConditions, SearchRequest } from './core/search-request.ts'
import type { FacetLists } from './compute-facets.ts'
import type { ExportRange, ImportResult, ImportOptions } from './messages.ts'

export type {
  SearchConditions as Conditions,
  ExportRange,
  FacetLists as Facets,
  ImportResult as Imported,
  Price,
  SearchRequest,
}

/** The price that fits. */
export interface FoundPrice {
  readonly id: string
  readonly spec: string
  readonly value: number
  readonly currency: string
}

export interface AllOptions extends ExportRange {
  readonly index?: string
}

/** What is chosen so far, and which lists are wanted. */
export interface FacetsRequest extends Partial<SearchConditions> {
  /** One list alone. */
  readonly facet?: 'offerings' | 'groups' | 'specs' | 'characteristics'
  /** The values of one characteristic alone. */
  readonly char?: string
  readonly limit?: number
  /** `next` of the page before; with `facet` or `char`. */
  readonly after?: string
  readonly index?: string
}

/** What a prices service can be asked. A price that is not there is `undefined`; other refusals are a `ServiceError`. */
export interface PricesClient {
  search(request: SearchRequest, index?: string): Promise<FoundPrice | undefined>
  /** Every price that fits, in the order of ids. */
  searchAll(request: SearchRequest, options?: AllOptions): AsyncIterable<FoundPrice>
  /** What can still be chosen. */
  getFacets(request?: FacetsRequest): Promise<FacetLists>
  get(id: string): Promise<Price | undefined>
  put(price: Price): Promise<void>
  /** @returns whether it was there */
  delete(id: string): Promise<boolean>
  /** The bytes of NDJSON, a price a line, in the order of ids, as they come. */
  export(range?: ExportRange): AsyncIterable<Uint8Array>
  /**
   * Sends bytes of NDJSON, a price a line. All or nothing.
   * @param options.replace in place of all prices there are; with `empty` even if nothing is imported
   */
  import(lines: string | Blob | AsyncIterable<Uint8Array>, options?: Partial<ImportOptions>): Promise<ImportResult>
}

const NDJSON_HEADERS = { 'content-type': 'application/x-ndjson' }

/** A client for the service at `url`, in a browser or in Node. */
export function createPricesClient(url: string, options: ClientOptions = {}): PricesClient {
  const request = createRequester(url, options)
  const buildSearchPath = (index = 'bitmap') => `/v1/search/${encodeURIComponent(index)}/prices`

  return {
    search: (json, index) =>
      ignoreErrors(readJson(request('POST', buildSearchPath(index), { json })), 'PRICE_NOT_FOUND'),
    async *searchAll(json, { index, ...range } = {}) {
      const reply = await request('POST', buildSearchPath(index), { json, query: { all: true, ...range } })
      for await (const line of readLines(reply)) yield JSON.parse(line)
    },
    getFacets({ charValues, ...query } = {}) {
      const conditions = charValues && JSON.stringify(charValues)
      return readJson(request('GET', '/facets', { query: { ...query, charValues: conditions } }))
    },
    get: (id) => ignoreErrors(readJson(request('GET', `/prices/${encodeURIComponent(id)}`)), 'PRICE_NOT_FOUND'),
    async put(price) {
      const reply = await request('PUT', `/prices/${encodeURIComponent(price.id)}`, { json: price })
      await reply.text()
    },
    async delete(id) {
      const reply = request('DELETE', `/prices/${encodeURIComponent(id)}`)
      return (await ignoreErrors(reply, 'PRICE_NOT_FOUND')) !== undefined
    },
    async *export(range = {}) {
      yield* readChunks(await request('GET', '/prices', { query: { ...range } }))
    },
    import: (body, { replace = false, empty = false } = {}) =>
      readJson(request('POST', '/prices/import', { body, headers: NDJSON_HEADERS, query: { replace, empty } })),
  }
}

import { createAsk, jsonOf, linesOf, orMiss, piecesOf, type ClientOptions } from '@influencer-stats/runtime/client'
import type { Price } from './core/price.ts'
import type { Conditions, SearchRequest } from './core/request.ts'
import type { Facets } from './facets.ts'
import type { ExportRange, Imported, ImportOptions } from './messages.ts'

export type { Conditions, ExportRange, Facets, Imported, Price, SearchRequest }

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
export interface FacetsRequest extends Partial<Conditions> {
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
  all(request: SearchRequest, options?: AllOptions): AsyncIterable<FoundPrice>
  /** What can still be chosen. */
  facets(request?: FacetsRequest): Promise<Facets>
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
  import(lines: string | Blob | AsyncIterable<Uint8Array>, options?: Partial<ImportOptions>): Promise<Imported>
}

const LINES = { 'content-type': 'application/x-ndjson' }

/** A client for the service at `url`, in a browser or in Node. */
export function createPricesClient(url: string, options: ClientOptions = {}): PricesClient {
  const ask = createAsk(url, options)
  const searchPath = (index = 'bitmap') => `/v1/search/${encodeURIComponent(index)}/prices`

  return {
    search: (json, index) => orMiss(jsonOf(ask('POST', searchPath(index), { json })), 'PRICE_NOT_FOUND'),
    async *all(json, { index, ...range } = {}) {
      const reply = await ask('POST', searchPath(index), { json, query: { all: true, ...range } })
      for await (const line of linesOf(reply)) yield JSON.parse(line)
    },
    facets({ charValues, ...query } = {}) {
      const conditions = charValues && JSON.stringify(charValues)
      return jsonOf(ask('GET', '/facets', { query: { ...query, charValues: conditions } }))
    },
    get: (id) => orMiss(jsonOf(ask('GET', `/prices/${encodeURIComponent(id)}`)), 'PRICE_NOT_FOUND'),
    async put(price) {
      const reply = await ask('PUT', `/prices/${encodeURIComponent(price.id)}`, { json: price })
      await reply.text()
    },
    async delete(id) {
      const reply = ask('DELETE', `/prices/${encodeURIComponent(id)}`)
      return (await orMiss(reply, 'PRICE_NOT_FOUND')) !== undefined
    },
    async *export(range = {}) {
      yield* piecesOf(await ask('GET', '/prices', { query: { ...range } }))
    },
    import: (body, { replace = false, empty = false } = {}) =>
      jsonOf(ask('POST', '/prices/import', { body, headers: LINES, query: { replace, empty } })),
  }
}

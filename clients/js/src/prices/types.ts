import type { CallOptions } from '../core/requester.ts'
import type { components, operations } from '../generated/prices.ts'
import type { PriceAmount } from '../core/exact-json.ts'

type Schemas = components['schemas']
type SearchQuery = NonNullable<operations['search']['parameters']['query']>
type FacetQuery = NonNullable<operations['getFacets']['parameters']['query']>
type ExportQuery = NonNullable<operations['exportPrices']['parameters']['query']>

/** Conditions that one price must match. */
export type PriceSearch = Omit<Schemas['Search'], 'explain'>
/** Conditions, each of them optional. */
export type PriceConditions = Partial<Omit<PriceSearch, 'id'>>

/** A price with all its fields. */
export type Price = Omit<Schemas['Price'], 'value'> & { readonly value: PriceAmount }
/** A price to store. Without `currency` it is in USD. */
export type NewPrice = Schemas['PriceBody'] & { readonly id: string }
/** Fields to change; null removes an optional one. */
export type PricePatch = Schemas['PricePatch']
export type Facets = Schemas['Facets']
export type ImportResult = Schemas['Imported']
export type CheckReport = Schemas['CheckReport']
export type RemovedPrices = Schemas['RemovedPrices']

/** A price that matches a search. */
export interface FoundPrice {
  readonly id: string
  readonly spec: string
  readonly value: PriceAmount
  readonly currency: string
}

/** A price, or the `error` of the search; and how many prices remain after each condition. */
export type SearchExplanation = Omit<Schemas['SearchAnswer'], 'value' | 'candidates'> & {
  readonly value?: PriceAmount
  readonly candidates?: readonly Price[]
}

/** The answer to one of many searches: a price, or the reason why there is none. */
export interface BulkAnswer {
  /** `id` of the search. */
  readonly id?: string | number | undefined
  readonly price?: FoundPrice | undefined
  readonly error?: { readonly code: string; readonly message: string; readonly item: number } | undefined
}

export interface IndexOptions extends CallOptions {
  /** Name of the index. Default: `bitmap`. */
  readonly index?: string | undefined
}

export interface SearchAllOptions extends IndexOptions, Pick<SearchQuery, 'limit' | 'after' | 'sort'> {
  /** With `sort`, the value of the price `after`. */
  readonly afterValue?: PriceAmount | undefined
}

export interface FacetOptions
  extends
    Omit<PriceConditions, 'currency'>,
    IndexOptions,
    Pick<FacetQuery, 'currency' | 'facet' | 'char' | 'q' | 'sort' | 'range' | 'limit' | 'after'> {}

export interface DeleteWhereOptions extends CallOptions {
  /** True: the prices are only counted. Default: true. */
  readonly dryRun?: boolean | undefined
  /** Number of prices that must match, otherwise `MATCH_COUNT`. */
  readonly expected?: number | undefined
}

export interface ExportOptions extends CallOptions, Pick<ExportQuery, 'after' | 'limit' | 'format'> {}

/** A file of prices: its text, or its bytes. */
export type PriceFile = string | Uint8Array | Blob | Iterable<Uint8Array> | AsyncIterable<Uint8Array>

export interface CheckOptions extends CallOptions {
  /** Default: `ndjson`. */
  readonly format?: 'ndjson' | 'csv' | undefined
  /** True: the bytes are compressed by gzip. */
  readonly gzip?: boolean | undefined
  /** True: the file replaces all prices. */
  readonly replace?: boolean | undefined
}

export interface ImportOptions extends CheckOptions {
  /** True: with `replace`, a file without prices removes all prices. */
  readonly empty?: boolean | undefined
}

/** Client of the service `prices`. A price that does not exist is `undefined`; other refusals are a `ServiceError`. */
export interface PricesClient {
  /** Finds the one price that matches. @throws ServiceError `PRICES_AMBIGUOUS`; its `body` has `candidates` */
  search(search: PriceSearch, options?: IndexOptions): Promise<FoundPrice | undefined>
  /** Searches, and returns how many prices remain after each condition, also if no price or several match. */
  explain(search: PriceSearch, options?: IndexOptions): Promise<SearchExplanation>
  /** Yields every price that matches, in the order of ids or values. */
  searchAll(conditions: PriceConditions, options?: SearchAllOptions): AsyncIterableIterator<FoundPrice>
  /**
   * Yields the answers to many searches, in their order. In Node the answers arrive while the searches are being sent; a
   * browser sends all of them first.
   */
  searchMany(
    searches: Iterable<PriceSearch> | AsyncIterable<PriceSearch>,
    options?: IndexOptions,
  ): AsyncIterableIterator<BulkAnswer>
  /** Resolves with the values that can still be chosen, and the number of prices for each. */
  getFacets(options?: FacetOptions): Promise<Facets>
  get(id: string, options?: CallOptions): Promise<Price | undefined>
  /** Creates or replaces a price. */
  put(price: NewPrice, options?: CallOptions): Promise<void>
  patch(id: string, patch: PricePatch, options?: CallOptions): Promise<Price | undefined>
  /** @returns true if the price existed */
  delete(id: string, options?: CallOptions): Promise<boolean>
  /** Deletes all prices that match, or none. By default it only counts them. */
  deleteWhere(conditions: PriceConditions, options?: DeleteWhereOptions): Promise<RemovedPrices>
  /** Yields the prices in the order of their ids. */
  list(options?: Omit<ExportOptions, 'format'>): AsyncIterableIterator<Price>
  /** Yields the bytes of a file with the prices in the order of their ids. */
  export(options?: ExportOptions): AsyncIterableIterator<Uint8Array>
  /** Imports a file, all of it or nothing. */
  import(file: PriceFile, options?: ImportOptions): Promise<ImportResult>
  /** Reports the problems of a file, and imports nothing. */
  check(file: PriceFile, options?: CheckOptions): Promise<CheckReport>
}

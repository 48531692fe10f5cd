import { readJson, readLines } from './core/reply-parts.ts'
import { toRequestBody } from './core/request-body.ts'
import { createRequester, type CallOptions, type ClientOptions, type QueryFields } from './core/requester.ts'
import { ignoreCodes } from './core/service-error.ts'
import { parseExactJson } from './core/exact-json.ts'
import type {
  BulkAnswer,
  CheckOptions,
  Facets,
  FacetOptions,
  FoundPrice,
  Price,
  PriceFile,
  PricesClient,
  RemovedPrices,
  SearchExplanation,
} from './prices/types.ts'

export { ServiceError } from './core/service-error.ts'
export type { CallOptions, ClientOptions } from './core/requester.ts'
export type { PriceAmount } from './core/exact-json.ts'
export type * from './prices/types.ts'

const MEDIA_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv' }
const MISS_CODE = 'PRICE_NOT_FOUND'

const readExact = async <T>(reply: Response) => parseExactJson(await reply.text()) as T

async function* readExactLines<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T, void, undefined> {
  for await (const line of readLines(chunks)) yield parseExactJson(line) as T
}

/** Creates a client of the service at `url`, in a browser or in Node. */
export function createPricesClient(url: string, options: ClientOptions = {}): PricesClient {
  const { call, stream } = createRequester(url, options)

  async function sendFile<T>(file: PriceFile, { format = 'ndjson', gzip, ...rest }: CheckOptions, query: QueryFields) {
    const headers = { 'content-type': MEDIA_TYPES[format], 'content-encoding': gzip ? 'gzip' : undefined }
    const isWhole = typeof file === 'string' || file instanceof Uint8Array || file instanceof Blob
    const body = isWhole ? file : await toRequestBody(file)
    return call('POST', '/prices/import', { query, headers, body, call: rest }, readJson<T>)
  }

  return {
    search: (json, { index, ...searchCall } = {}) =>
      ignoreCodes(call('POST', toSearchPath(index), { json, call: searchCall }, readExact<FoundPrice>), MISS_CODE),
    explain: (search, { index, ...searchCall } = {}) =>
      call(
        'POST',
        toSearchPath(index),
        { json: { ...search, explain: true }, call: searchCall },
        readExact<SearchExplanation>,
      ),
    searchAll(json, { index, signal, timeout, ...range } = {}) {
      const parts = { json, query: { all: true, ...range }, call: { signal, timeout } }
      return stream('POST', toSearchPath(index), parts, readExactLines<FoundPrice>)
    },
    async *searchMany(searches, { index = 'bitmap', ...bulkCall } = {}) {
      const parts = {
        headers: { 'content-type': MEDIA_TYPES.ndjson },
        body: await toRequestBody(toJsonLines(searches)),
        call: bulkCall,
      }
      yield* stream('POST', `/v5/search/${encodeURIComponent(index)}/bulk/prices`, parts, readAnswers)
    },
    getFacets({ signal, timeout, ...conditions } = {}) {
      return call(
        'GET',
        '/facets',
        { query: toConditionsQuery(conditions), call: { signal, timeout } },
        readExact<Facets>,
      )
    },
    get: (id, getCall) => ignoreCodes(call('GET', toPath(id), { call: getCall }, readExact<Price>), MISS_CODE),
    put: (json, putCall) =>
      call('PUT', toPath(json.id), { json, call: putCall }, async (reply) => void (await reply.text())),
    patch: (id, json, patchCall) =>
      ignoreCodes(call('PATCH', toPath(id), { json, call: patchCall }, readExact<Price>), MISS_CODE),
    delete: async (id, deleteCall) =>
      (await ignoreCodes(
        call('DELETE', toPath(id), { call: deleteCall }, () => true),
        MISS_CODE,
      )) ?? false,
    deleteWhere(conditions, { dryRun = true, expected, ...deleteCall } = {}) {
      const query = { ...toConditionsQuery(conditions), dryRun, expected }
      return call('DELETE', '/prices', { query, call: deleteCall }, readExact<RemovedPrices>)
    },
    list: ({ signal, timeout, ...query } = {}) =>
      stream('GET', '/prices', toExportParts(query, { signal, timeout }), readExactLines<Price>),
    export: ({ signal, timeout, ...query } = {}) =>
      stream('GET', '/prices', toExportParts(query, { signal, timeout }), (chunks) => chunks),
    import: (file, { empty, ...rest } = {}) => sendFile(file, rest, { replace: rest.replace, empty }),
    check: (file, rest = {}) => sendFile(file, rest, { replace: rest.replace, check: true }),
  }
}

const toConditionsQuery = ({ charValues, ...query }: Omit<FacetOptions, keyof CallOptions>) => ({
  ...query,
  charValues: charValues && JSON.stringify(charValues),
})

const toPath = (id: string) => `/prices/${encodeURIComponent(id)}`
const toSearchPath = (index = 'bitmap') => `/v1/search/${encodeURIComponent(index)}/prices`
const toExportParts = (query: QueryFields, call: CallOptions) => ({ query: { format: 'ndjson', ...query }, call })

async function* toJsonLines(items: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`
}

/** An answer has both members; the one that does not apply is an empty object. */
async function* readAnswers(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<BulkAnswer, void, undefined> {
  for await (const { id, price, error } of readExactLines<BulkAnswer>(chunks)) {
    const answer = error?.code === undefined ? { price } : { error }
    yield id === undefined ? answer : { id, ...answer }
  }
}

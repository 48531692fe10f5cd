import { Readable } from 'node:stream'
import { ServiceError, toServiceError } from '@influencer-stats/runtime/service-error'
import type { Price } from './core/price.ts'
import type { SearchRequest } from './core/request.ts'
import type { ImportOptions } from './messages.ts'

export type { Price, SearchRequest }

/** The price that fits. */
export interface FoundPrice {
  readonly id: string
  readonly spec: string
  readonly value: number
  readonly currency: string
}

export interface Imported {
  /** Lines that were prices. */
  readonly imported: number
  /** Prices there are now. */
  readonly prices: number
}

/** What a prices service can be asked. A price that is not there is `undefined`; other refusals are a `ServiceError`. */
export interface PricesClient {
  search(request: SearchRequest, index?: string): Promise<FoundPrice | undefined>
  get(id: string): Promise<Price | undefined>
  put(price: Price): Promise<void>
  delete(id: string): Promise<boolean>
  /**
   * Sends bytes of NDJSON, a price a line. All or nothing.
   * @param options.replace in place of all prices there are; with `empty` even if nothing is imported
   */
  import(lines: AsyncIterable<Uint8Array>, options?: Partial<ImportOptions>): Promise<Imported>
}

/** @param options.token needed for changes where the service was started with an `API_TOKEN` */
export function createPricesClient(url: string, options: { readonly token?: string } = {}): PricesClient {
  const authorization = options.token ? { authorization: `Bearer ${options.token}` } : undefined

  async function ask<Answer>(method: string, path: string, body?: BodyOf, type = 'application/json'): Promise<Answer> {
    const reply = await fetch(new URL(path, url), {
      method,
      headers: { ...authorization, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body, duplex: 'half' }),
    } as never)
    const text = await reply.text()
    if (!reply.ok) throw toServiceError(reply.status, text)
    return text === '' ? (undefined as Answer) : JSON.parse(text)
  }

  return {
    search: (request, index = 'bitmap') =>
      orMiss(ask('POST', `/v1/search/${encodeURIComponent(index)}/prices`, JSON.stringify(request))),
    get: (id) => orMiss(ask('GET', `/prices/${id}`)),
    put: (price) => ask('PUT', `/prices/${price.id}`, JSON.stringify(price)),
    delete: async (id) => (await orMiss(ask('DELETE', `/prices/${id}`).then(() => true))) ?? false,
    import: (lines, { replace = false, empty = false } = {}) =>
      ask(
        'POST',
        `/prices/import?replace=${replace}&empty=${empty}`,
        Readable.toWeb(Readable.from(lines)),
        'application/x-ndjson',
      ),
  }
}

type BodyOf = string | ReturnType<typeof Readable.toWeb>

async function orMiss<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'PRICE_NOT_FOUND') return undefined
    throw error
  }
}

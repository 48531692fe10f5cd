import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import { listValues, type Price } from '../../src/core/price.ts'
import { prices } from '../../src/service.ts'

const SERVICES = new URL('../../../../services.ts', import.meta.url).href

/** A reply in the form that tests check. */
export interface PricesReply {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

/** A running prices service and helpers for requests to it. */
export interface TestPrices {
  readonly url: string
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<PricesReply>
  search(body: unknown, index?: string, headers?: Record<string, string>): Promise<PricesReply>
  /** The answers, one per line. */
  searchBulk(body: string, index?: string): Promise<any[]>
  import(lines: readonly unknown[], query?: string): Promise<PricesReply>
  stop(): Promise<boolean>
}

export async function startPrices(settings: Overrides): Promise<TestPrices> {
  const running = await embed(prices, { sample: 'no', ...settings }, SERVICES)

  async function request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<PricesReply> {
    const withBody = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const reply = await fetch(running.url + path, { method, ...withBody, headers: { ...type, ...headers } })
    const text = await reply.text()
    const isJson =
      reply.headers.get('content-type')?.includes('json') && !reply.headers.get('content-type')?.includes('nd')
    return { status: reply.status, headers: reply.headers, body: isJson && text !== '' ? JSON.parse(text) : text }
  }

  const lines = { 'content-type': 'application/x-ndjson' }
  return {
    url: running.url,
    request,
    search: (body, index = 'bitmap', headers) => request('POST', `/v1/search/${index}/prices`, body, headers),
    async searchBulk(body, index = 'bitmap') {
      const init = { method: 'POST', body, headers: lines }
      const reply = await fetch(`${running.url}/v5/search/${index}/bulk/prices`, init)
      const text = await reply.text()
      return text
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    },
    import: (prices_, query = '') =>
      request(
        'POST',
        `/prices/import${query}`,
        prices_.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n'),
        lines,
      ),
    stop: () => running.stop(),
  }
}

let last = 0
export const toUuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** Creates a price with the given fields. */
export const createPrice = (fields: Partial<Price> = {}): Price => ({
  id: toUuid(++last),
  offeringId: 'o1',
  groupId: 'g1',
  priceSpecId: 'MRC',
  charValues: [],
  value: 1,
  ...fields,
})

/** Returns the search for all values of a price. */
export const toSearch = ({ offeringId, groupId, priceSpecId, charValues }: Price) => ({
  offeringId,
  groupId,
  priceSpecId,
  charValues: charValues.flatMap(({ char, value }) => listValues(value).map((one) => ({ char, value: one }))),
})

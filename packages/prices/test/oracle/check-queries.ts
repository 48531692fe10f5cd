import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { fromCells, parseCsv } from './csv-text.ts'
import { expectSame } from './difference.ts'
import { drawQuery, omitNames } from './generate-queries.ts'
import { isObject, JsonNumber, parseJson, type Json, type JsonObject } from './json-text.ts'
import { normalizeId, toJson, type Prices } from './model-price.ts'
import { toRefusal, type ModelReply } from './model-reply.ts'
import { explain, searchAll, searchOne, sortPrices, type AllOptions, type SearchReply } from './model-search.ts'
import { parseLines, send, type OracleRequest } from './oracle-client.ts'
import * as pools from './pools.ts'
import { renderAll, renderBulk, renderExport, renderGet, renderSearch, type BulkItem } from './render-requests.ts'

/** The service that answers, and the state that it has. */
export interface QueryContext {
  readonly url: string
  readonly prices: Prices
  readonly random: SeededRandom
  /** The index that answers. */
  readonly index: string
}

const number = (value: number) => new JsonNumber(String(value))

/** Returns the parts of a reply that the contract describes. */
export function toComparable({ status, body, code, ...members }: ModelReply & Partial<SearchReply>): JsonObject {
  return { status: number(status), ...(code === undefined ? { body } : { code }), ...members }
}

/** Returns the same parts of a received reply. */
export function readReply(status: number, text: string): JsonObject {
  const body = text === '' ? undefined : parseJson(text)
  if (status < 400 || !isObject(body)) return { status: number(status), body }
  const { code, condition, candidates, differences } = body
  const members = { condition, candidates, differences }
  return { status: number(status), code, ...members }
}

async function check(context: QueryContext, request: OracleRequest, reply: ModelReply): Promise<void> {
  const received = await send(context.url, request)
  const comparison = { expected: toComparable(reply), received: readReply(received.status, received.text) }
  expectSame(request, received, context.prices, comparison)
}

/** Checks a search for one price. */
export async function checkSearch(context: QueryContext): Promise<void> {
  const { prices, random, index } = context
  const query = drawQuery(random, prices)
  await check(context, renderSearch(random, query, index), searchOne(prices, query))
}

/** Checks the numbers of prices that remain after each condition. */
export async function checkExplain(context: QueryContext): Promise<void> {
  const { prices, random, index } = context
  const query = drawQuery(random, prices)
  const request = renderSearch(random, query, index, true)
  const steps = explain(prices, query)
  const reply = searchOne(prices, query)
  if (!steps) return check(context, request, reply)
  const received = await send(context.url, request)
  const { error, ...body } = parseJson(received.text) as JsonObject
  const { message: _, ...refusal } = isObject(error) ? error : {}
  const { status: __, body: found, ...members } = toComparable(reply)
  expectSame(request, received, prices, {
    expected: { status: number(200), ...(found as JsonObject), ...members, explain: steps },
    received: { status: number(received.status), ...refusal, ...body },
  })
}

function drawAllOptions(random: SeededRandom, prices: Prices): AllOptions {
  const sort = random.percent(50) ? { sort: random.pick(['value', '-value'] as const) } : {}
  const limit = random.percent(40) ? { limit: random.between(1, 8) } : {}
  if (prices.size === 0 || random.percent(60)) return { ...sort, ...limit }
  const { id, value } = random.pick([...prices.values()])
  return { ...sort, ...limit, after: id, ...('sort' in sort && { afterValue: value }) }
}

/** Checks a search for all prices. */
export async function checkAll(context: QueryContext): Promise<void> {
  const { prices, random, index } = context
  const query = omitNames(random, drawQuery(random, prices))
  const options = drawAllOptions(random, prices)
  const request = renderAll(random, query, index, options)
  const reply = searchAll(prices, query, options)
  if (reply.code) return check(context, request, reply)
  const received = await send(context.url, request)
  expectSame(request, received, prices, {
    expected: reply.body!,
    received: received.status === 200 ? parseLines(received.text) : parseJson(received.text),
  })
}

const drawItemId = (random: SeededRandom): Json =>
  random.percent(30)
    ? new JsonNumber(random.pick(['1', '0', '-5', '1.50', '9007199254740993', '1e3']))
    : random.pick(['a', 'b', '', 'é "\\', '日本😀'])

/** Checks several searches in one request. @returns their number */
export async function checkBulk(context: QueryContext): Promise<number> {
  const { prices, random, index } = context
  const items = Array.from({ length: random.between(0, 24) }, (): BulkItem => {
    return { id: drawItemId(random), query: drawQuery(random, prices) }
  })
  const request = renderBulk(random, items, index)
  // A body without items is refused.
  if (request.body === '') return 0
  const received = await send(context.url, request)
  const expected = items.map(({ id, query }) => {
    const { body, code } = searchOne(prices, query)
    return { id, ...(body !== undefined && { price: body }), ...(code !== undefined && { code }) }
  })
  const lines = received.status === 200 ? parseLines(received.text) : [parseJson(received.text)]
  const answers = lines.map((line) => {
    const { error, ...rest } = line as JsonObject
    return { ...rest, ...(isObject(error) && { code: error.code }) }
  })
  expectSame(request, received, prices, { expected, received: answers })
  return items.length
}

/** Checks a read by id. */
export async function checkGet(context: QueryContext): Promise<void> {
  const { prices, random } = context
  const id = prices.size > 0 && random.percent(70) ? random.pick([...prices.keys()]) : pools.drawId(random)
  const price = prices.get(normalizeId(id))
  await check(context, renderGet(id), price ? { status: 200, body: toJson(price) } : toRefusal('PRICE_NOT_FOUND'))
}

/** Checks an export, or a part of it. */
export async function checkExport(context: QueryContext, isWhole = false): Promise<void> {
  const { prices, random } = context
  const options = isWhole ? {} : drawPart(random)
  const request = renderExport(options)
  const received = await send(context.url, request)
  const expected = sortPrices([...prices.values()], options).map(toJson)
  expectSame(request, received, prices, { expected, received: parseLines(received.text) })
}

/** Checks an export to CSV, in which the characteristics of a price have another order. */
export async function checkCsv(context: QueryContext): Promise<void> {
  const { prices, random } = context
  const options = drawPart(random)
  const request = renderExport({ ...options, format: 'csv' })
  const received = await send(context.url, request)
  const [columns = [], ...lines] = parseCsv(received.text)
  const expected = sortPrices([...prices.values()], options).map((price) => sortChars(toJson(price)))
  expectSame(request, received, prices, {
    expected,
    received: lines.map((cells) => sortChars(fromCells(cells, columns))),
  })
}

const sortChars = (price: JsonObject): JsonObject => ({
  ...price,
  charValues: (price.charValues as readonly JsonObject[]).toSorted((a, b) => (a.char! < b.char! ? -1 : 1)),
})

const drawPart = (random: SeededRandom): Pick<AllOptions, 'after' | 'limit'> => ({
  ...(random.percent(70) && { after: pools.drawId(random) }),
  ...(random.percent(70) && { limit: random.between(1, 20) }),
})

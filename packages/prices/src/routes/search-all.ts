import { getHold, type Budget } from '@influencer-stats/runtime/budget'
import { commonErrors, createMemoryFull } from '@influencer-stats/runtime/errors'
import { openReplyOutput } from '@influencer-stats/runtime/reply-output'
import { sendChunks } from '@influencer-stats/runtime/stream-reply'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RowOrder } from '../core/row-order.ts'
import { SearchQuery } from '../core/search-query.ts'
import { errors, toResolveProblem } from '../errors.ts'
import { findAllRows } from '../search/find-all.ts'
import { readSearchAll } from '../search/read-search.ts'
import { readAmount, resolveSearch } from '../search/row-tests.ts'
import { createAnswerBuffer, isFull } from '../search/searcher.ts'
import { forEachInTurns, yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { CatalogView, CatalogViews } from '../search/catalog-view.ts'
import { LINES_TYPE } from './media-types.ts'

const PIECE_BYTES = 65_536
const ROWS_PER_TIME_CHECK = 64
const NEWLINE = 10
/** Memory of a row until all rows are sent (bytes). */
const ROW_BYTES = 28
const SORTED_ROW_BYTES = 36
/** Memory is reserved for at least this number of rows at a time. */
const MIN_RESERVED_ROWS = 256

/** All results of a search, or a part of them. */
export interface SearchAllQuery {
  readonly index: string
  readonly limit: number | undefined
  /** By default, the order is that of ids. `-value` begins with the highest value. */
  readonly sort?: (typeof SEARCH_SORTS)[number] | undefined
  /** Only prices with a higher id; with `sort`, only those that come after the price of this id and of `afterValue`. */
  readonly after: string | undefined
  readonly afterValue?: string | undefined
}

export const SEARCH_SORTS = ['value', '-value'] as const
const ALL_PARAMETERS = ['limit', 'after', 'sort', 'afterValue'] as const

/** @throws Problem `INCOMPATIBLE_PARAMETERS` */
export function checkSearchAllQuery(query: Partial<SearchAllQuery>, all: boolean): void {
  const given = ALL_PARAMETERS.find((name) => query[name] !== undefined)
  if (!all && given)
    throw errors.INCOMPATIBLE_PARAMETERS(
      `limit, after, sort and afterValue need all=true; received all=false and ${given}`,
    )
  const { sort, after, afterValue } = query
  const isPaired = sort === undefined ? afterValue === undefined : (after === undefined) === (afterValue === undefined)
  if (!isPaired)
    throw errors.INCOMPATIBLE_PARAMETERS(
      `afterValue must be given with sort and after, and only then; received ${['sort', 'after', 'afterValue'].filter((name) => query[name as 'sort'] !== undefined).join(' and ')}`,
    )
}

export interface SearchAllOptions {
  readonly views: CatalogViews
  readonly budget: Budget
  /** Maximum time for which a client may delay a part of its reply (ms). */
  readonly timeout: number
}

/**
 * Sends the prices that match any subset of the conditions, one per line, in the order of their ids or
 * values, and in the state at the beginning of the reply.
 */
export async function sendAll(
  { index, limit = Infinity, sort, after, afterValue }: SearchAllQuery,
  request: FastifyRequest,
  reply: FastifyReply,
  { views, budget, timeout }: SearchAllOptions,
): Promise<void> {
  const view = views.getCurrent()
  const finder = views.findIndex(view, index)
  if (!request.body) throw commonErrors.BAD_JSON('body must be valid JSON; received no text')
  const query = new SearchQuery()
  const failure = resolveSearch(readSearchAll(request.body as Buffer), view, query)
  if (failure) throw toResolveProblem(failure)
  const hold = getHold(request.raw, budget)
  let reserved = 0
  view.hold()
  try {
    const byValue = sort && {
      isDescending: sort === '-value',
      getAmount: (row: number) => view.getAmount(row),
      after: afterValue === undefined ? undefined : readAmount(afterValue, 'querystring/afterValue'),
    }
    const order = new RowOrder(view.words, after, byValue)
    for await (const rows of findAllRows(query, view, finder)) {
      if (order.size + rows.length > reserved) {
        const more = Math.max(rows.length, MIN_RESERVED_ROWS)
        if (!hold.take((sort ? SORTED_ROW_BYTES : ROW_BYTES) * more)) throw createMemoryFull()
        reserved += more
      }
      await forEachInTurns(rows.length, (i) => order.add(view.getId(rows[i]!), rows[i]!))
    }
    const pieces = renderPieces(order.takeRows().take(limit), view)
    const { stream: output, begin } = openReplyOutput(request, reply, budget, LINES_TYPE)
    await sendChunks(async () => (await pieces.next()).value ?? undefined, reply.raw, { begin, timeout, output })
  } finally {
    await view.release()
  }
}

async function* renderPieces(rows: Iterable<number>, view: CatalogView): AsyncGenerator<Uint8Array, void> {
  let buffer = createAnswerBuffer(PIECE_BYTES)
  let count = 0
  for (const row of rows) {
    const end = view.write(row, buffer, buffer.filled)
    buffer.bytes[end] = NEWLINE
    buffer.filled = end + 1
    if (++count % ROWS_PER_TIME_CHECK === 0) await yieldTurn()
    if (!isFull(buffer)) continue
    yield buffer.bytes.subarray(0, buffer.filled)
    buffer = createAnswerBuffer(PIECE_BYTES)
  }
  if (buffer.filled > 0) yield buffer.bytes.subarray(0, buffer.filled)
}

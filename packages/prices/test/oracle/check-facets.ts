import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { readReply, toComparable, type QueryContext } from './check-queries.ts'
import { expectSame, reportDifference } from './difference.ts'
import { drawQuery, omitNames } from './generate-queries.ts'
import { isObject, type Json, type JsonNumber, type JsonObject } from './json-text.ts'
import { normalizeDecimal } from './decimal.ts'
import { countFacets, type FacetQuery } from './model-facets.ts'
import type { Prices } from './model-price.ts'
import { send } from './oracle-client.ts'
import * as pools from './pools.ts'
import { renderFacets } from './render-requests.ts'

const MAX_PAGES = 200
const PARTS = [
  'o',
  'O1',
  'caf',
  'é',
  'É',
  'ａｆ',
  '100',
  'ss',
  'Größe',
  'größe'.normalize('NFD'),
  'mbps',
  '1',
  'd',
  '-',
  'zz',
]

function drawFacetQuery(random: SeededRandom, prices: Prices): FacetQuery {
  const query = omitNames(random, drawQuery(random, prices))
  const only = random.pick([
    {},
    {},
    { facet: random.pick(['offerings', 'groups', 'specs', 'characteristics'] as const) },
    { char: random.percent(95) ? random.pick(pools.CHARS).name : 'no' },
  ])
  return {
    ...query,
    charValues: random.percent(40) ? [] : query.charValues,
    ...only,
    ...(random.percent(40) && { part: random.pick(PARTS) }),
    ...(random.percent(50) && { sort: random.pick(['name', 'count'] as const) }),
    ...(random.percent(30) && { range: true }),
  }
}

/** Returns the list that a query reads in pages; undefined for a refusal. */
function getPagedList(body: Json | undefined, { facet, char }: FacetQuery): JsonObject | undefined {
  if (!isObject(body)) return undefined
  if (char === undefined) return body[facet!] as JsonObject
  return ((body.characteristics as JsonObject).values as readonly JsonObject[])[0]
}

/** Normalizes the bounds of values, of which each may be any of several equal values. */
function normalizeRanges(reply: JsonObject): JsonObject {
  if (!isObject(reply.body) || !reply.body.range) return reply
  const normalize = (bound: Json | undefined) => normalizeDecimal((bound as JsonNumber).text)
  const range = (reply.body.range as readonly JsonObject[]).map(({ min, max, ...rest }) => {
    return { ...rest, min: normalize(min), max: normalize(max) }
  })
  return { ...reply, body: { ...reply.body, range } }
}

/** Checks the values that can still be chosen; a single list is read in pages. */
export async function checkFacets({ url, prices, random, index }: QueryContext): Promise<void> {
  const query = drawFacetQuery(random, prices)
  const isPaged = query.char !== undefined || (query.facet ?? 'characteristics') !== 'characteristics'
  const limit = isPaged && random.percent(60) ? { limit: random.between(1, 3) } : {}
  const expected = normalizeRanges(toComparable(countFacets(prices, query)))
  const values: Json[] = []
  let after: string | undefined
  for (let pages = 1; ; pages++) {
    const request = renderFacets(random, query, { index, ...limit, ...(after !== undefined && { after }) })
    const reply = await send(url, request)
    const received = readReply(reply.status, reply.text)
    const list = isPaged ? getPagedList(received.body, query) : undefined
    if (list) values.push(...(list.values as readonly Json[]))
    after = list?.next as string | undefined
    if (after === undefined) {
      // The last page is compared with the values of all pages.
      if (list) Object.assign(list, { values })
      return expectSame(request, reply, prices, { expected, received: normalizeRanges(received) })
    }
    if (pages > MAX_PAGES) reportDifference(request, reply, prices, expected, 'the pages do not end')
  }
}

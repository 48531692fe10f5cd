import { closedObject } from '@influencer-stats/runtime/closed-object'
import { isPreconditionMet, readPreconditions } from '@influencer-stats/runtime/conditions'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { StatsCache } from '../cache/stats-cache.ts'
import type { Collections } from '../campaigns/collections.ts'
import type { Creators } from '../campaigns/creators/creator-index.ts'
import { computeCosts, applyPatch, getTotalCost, getEtag, getVersion } from '../core/campaign.ts'
import { SORTS, toCursor } from '../campaigns/overview/overview-selection.ts'
import { toIsoMicroseconds } from '../core/iso-time.ts'
import { addReported } from '../core/posts/reported.ts'
import { isStale } from '../core/prepared-reply.ts'
import { errors } from '../errors.ts'
import type { Overview } from '../campaigns/overview/overview.ts'
import type { CollectionRow } from '../campaigns/overview/overview-source.ts'
import { requireCondition } from '../campaigns/collection-changes.ts'
import type { Collection, StateReader } from '../state/stats-state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { collectionParams, readConditions } from './collection-schemas.ts'
import { campaignCreators } from './creators/campaign-creator-schemas.ts'
import { DEFAULT_LIMIT, MAX_QUERY_LENGTH, pageQuery, requirePosition } from './page-query.ts'
import { overviewRow } from './stats-schemas.ts'

const tags = ['collections']
const MAX_OFFSET = 1_000_000
const ARCHIVED_CHOICES = ['false', 'true', 'any'] as const

const include = {
  type: 'string',
  enum: ['stats', 'change', 'stats,change'],
  description: '`stats` adds the sums, `change` their growth in 24 hours, 7 and 30 days.',
} as const

const collectionQuery = closedObject({
  include: {
    type: 'string',
    enum: [...include.enum, 'creators', 'stats,creators', 'change,creators', 'stats,change,creators'],
    description: `${include.description} \`creators\` adds the numbers of each creator.`,
  },
})

const collectionRow = {
  ...overviewRow,
  title: 'Collection with its numbers and creators',
  properties: { ...overviewRow.properties, ...campaignCreators },
} as const

const overviewQuery = closedObject({
  ...pageQuery,
  offset: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_OFFSET,
    description: 'Number of collections to skip, from the cursor `after` on if there is one.',
  },
  archived: {
    type: 'string',
    enum: ARCHIVED_CHOICES,
    default: 'false',
    description: '`true`: only collections in the archive, `any`: these also.',
  },
  include,
  sort: {
    type: 'string',
    enum: SORTS,
    default: 'id',
    description:
      'Order; with `-` descending. `rate` is engagements divided by impressions; `24h`, `7d` and `30d` are the growth ' +
      'of impressions in that time. Collections without the value are last.',
  },
  q: {
    type: 'string',
    maxLength: MAX_QUERY_LENGTH,
    description: 'Words that the id, the name or the tags contain; case-insensitive.',
  },
  tag: { type: 'string', maxLength: MAX_QUERY_LENGTH, description: 'Only collections with this tag.' },
})

const overviewReply = closedObject(
  {
    collections: { type: 'array', items: overviewRow },
    next: { type: 'string', description: 'Cursor for `after` of the next page, which may be empty.' },
    total: {
      type: 'integer',
      minimum: 0,
      description:
        'Number of matching collections. Absent in the default order without `include`, `offset`, `q`, `tag` and `archived`.',
    },
  },
  { title: 'Collections', required: ['collections'], examples: [{ collections: overviewRow.examples, total: 1 }] },
)

interface OverviewOptions {
  readonly collections: Pick<Collections, 'state'>
  readonly overview: Pick<Overview, 'getPage' | 'getRow'>
  readonly creators: Pick<Creators, 'getCampaign'>
  readonly cache: Pick<StatsCache, 'getStaleAfter'>
}

/** Returns a collection as replies contain it. */
export function toCollectionReply({ id, videos, revision, created, followed, refused, ...rest }: Collection): any {
  const { tags: marks, ...campaign } = applyPatch(rest, {})
  return {
    id,
    videos: [...videos],
    ...campaign,
    ...(marks && { tags: [...marks] }),
    ...(followed && { followed }),
    ...(refused && { refused }),
    version: getVersion({ revision }),
    ...(created !== undefined && { created: toIsoMicroseconds(created) }),
  }
}

/** Parses the requested additions to a reply. */
const parseInclude = (included: string | undefined) => ({
  withStats: included?.includes('stats') === true,
  withChange: included?.includes('change') === true,
  withCreators: included?.includes('creators') === true,
})

/** Registers the routes that read one or many collections, with their numbers on request. */
export function registerOverviewRoutes(
  app: App,
  { collections: { state }, overview, creators, cache }: OverviewOptions,
): void {
  function toRow({ collection, known, change }: CollectionRow, withStats: boolean): object {
    const cost = getTotalCost(collection)
    return {
      ...toCollectionReply(collection),
      ...(withStats &&
        known && {
          stats: {
            ...known.summary,
            stale: isStale(known, steadyNow(), cache.getStaleAfter()),
            source: known.source,
            reported: known.reported,
          },
        }),
      ...(withStats &&
        known &&
        cost !== undefined && { costs: computeCosts(cost, addReported(known.summary, known.reported)) }),
      ...(change && { change }),
    }
  }

  app.get(
    '/collections/:id',
    {
      schema: {
        tags,
        operationId: 'getCollection',
        summary: 'A collection',
        description:
          'Without `include` the reply has an `ETag`, the version of the collection. `If-None-Match` with this version ' +
          'returns 304, `If-Match` with another returns 412.',
        headers: readConditions,
        params: collectionParams,
        querystring: collectionQuery,
        response: {
          200: collectionRow,
          304: { type: 'null', description: 'The client has this version.' },
          ...buildReadReplies(
            errors.STATE_UNAVAILABLE,
            commonErrors.VALIDATION_FAILED,
            errors.CONDITION_INVALID,
            errors.COLLECTION_NOT_FOUND,
            errors.CONDITION_FAILED,
          ),
        },
      },
    },
    async ({ params: { id }, query, headers }, reply): Promise<any> => {
      if (query.include === undefined) {
        const { match, noneMatch } = readPreconditions(headers) ?? {}
        const collection = await state.get(id)
        if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
        requireCondition(collection, match && { match })
        const etag = getEtag(collection)
        void reply.header('etag', etag)
        if (noneMatch && !isPreconditionMet({ noneMatch }, etag)) return reply.code(304).send(null)
        return toCollectionReply(collection)
      }
      const { withStats, withChange, withCreators } = parseInclude(query.include)
      const [row, found] = await Promise.all([
        overview.getRow(id, withChange),
        withCreators ? creators.getCampaign(id) : undefined,
      ])
      if (!row) throw errors.COLLECTION_NOT_FOUND(id)
      return { ...toRow(row, withStats), ...found }
    },
  )

  app.get(
    '/collections',
    {
      schema: {
        tags,
        operationId: 'listCollections',
        summary: 'List collections, by default in the order of their ids',
        querystring: overviewQuery,
        response: {
          200: overviewReply,
          ...buildReadReplies(errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED, errors.INVALID_CURSOR),
        },
      },
    },
    async ({ query }): Promise<any> => {
      const { limit = DEFAULT_LIMIT, offset, after, include: included, sort = 'id', archived = 'false', q, tag } = query
      const isPlain = sort === 'id' && archived === 'false' && offset === undefined
      if (isPlain && included === undefined && q === undefined && tag === undefined)
        return readPlainPage(state, after ?? '', limit)
      const { withStats, withChange } = parseInclude(included)
      const { rows, end, total } = await overview.getPage({
        sort,
        q,
        tag,
        limit,
        offset,
        after: after === undefined ? undefined : requirePosition(sort, after),
        isArchived: archived === 'any' ? undefined : archived === 'true',
        withChange,
      })
      return { collections: rows.map((row) => toRow(row, withStats)), next: end && toCursor(sort, end), total }
    },
  )
}

/** Reads a page of the collections that are not archived, in the order of their ids, without the other collections. */
async function readPlainPage(state: Pick<StateReader, 'list'>, after: string, limit: number) {
  const collections: Collection[] = []
  for (let last = after; ;) {
    const page = await state.list(last, limit)
    for (const collection of page) {
      if (!collection.archived) collections.push(collection)
      if (collections.length === limit) return { collections: collections.map(toCollectionReply), next: collection.id }
    }
    if (page.length < limit) return { collections: collections.map(toCollectionReply) }
    last = page.at(-1)!.id
  }
}

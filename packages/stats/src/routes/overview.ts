import { isPreconditionMet, readPreconditions } from '@influencer-stats/runtime/conditions'
import { commonErrors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { StatsCache } from '../cache/cache.ts'
import type { Collections } from '../collections.ts'
import { costsOf, patched } from '../core/campaign.ts'
import { fromCursor, SORTS, toCursor, type Sort } from '../core/overview.ts'
import { toIsoMicroseconds } from '../core/iso-time.ts'
import { etagOf, versionOf } from '../core/version.ts'
import { errors } from '../errors.ts'
import type { CollectionRow, Overview } from '../overview.ts'
import { requireCondition } from '../require-condition.ts'
import type { Collection } from '../state/state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { collectionParams, readConditions } from './schemas.ts'
import { overviewRow } from './stats-schemas.ts'

const tags = ['collections']
const DEFAULT_LIMIT = 50
const LARGEST_LIMIT = 200
const LONGEST_QUESTION = 200
/** A name as a cursor has it takes up to four bytes a character, and four thirds of that. */
const CURSOR = '^[A-Za-z0-9._~-]{1,2048}$'

const include = {
  type: 'string',
  enum: ['stats', 'change', 'stats,change'],
  description: 'Adds the sums; by how much they have grown in 24 hours, 7 and 30 days.',
} as const

interface OverviewOptions {
  readonly collections: Pick<Collections, 'get' | 'list'>
  readonly overview: Pick<Overview, 'page' | 'one'>
  readonly cache: Pick<StatsCache, 'staleAfter'>
}

/** A collection as replies tell it. */
export function toReply({ id, videos, revision, created, ...rest }: Collection) {
  const { tags: marks, ...campaign } = patched(rest, {})
  return {
    id,
    videos: [...videos],
    ...campaign,
    ...(marks && { tags: [...marks] }),
    version: versionOf({ revision }),
    ...(created !== undefined && { created: toIsoMicroseconds(created) }),
  }
}

/** What a reply is to tell of collections. */
const partsOf = (asked: string | undefined) => ({
  withStats: asked?.includes('stats') === true,
  withChange: asked?.includes('change') === true,
})

/** Collections, one or many, with their numbers where those are asked for. */
export function overviewRoutes(app: App, { collections, overview, cache }: OverviewOptions): void {
  function tell({ collection, known, change }: CollectionRow, withStats: boolean): object {
    const { cost } = collection
    return {
      ...toReply(collection),
      ...(withStats &&
        known && {
          stats: { ...known.summary, stale: steadyNow() - known.at > cache.staleAfter(), source: known.source },
        }),
      ...(withStats && known && cost !== undefined && { costs: costsOf(cost, known.summary) }),
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
          'Without `include` the reply has an `ETag`, the version of the collection itself. `If-None-Match` with it gives ' +
          '304, `If-Match` with another 412.',
        headers: readConditions,
        params: collectionParams,
        querystring: { type: 'object', additionalProperties: false, properties: { include } },
        response: {
          200: overviewRow,
          304: { type: 'null', description: 'The client has this version.' },
          ...buildReadReplies(
            errors.STATE_UNAVAILABLE,
            house.VALIDATION_FAILED,
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
        const collection = await collections.get(id)
        if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
        requireCondition(collection, match && { match })
        const etag = etagOf(collection)
        void reply.header('etag', etag)
        if (noneMatch && !isPreconditionMet({ noneMatch }, etag)) return reply.code(304).send(null)
        return toReply(collection)
      }
      const { withStats, withChange } = partsOf(query.include)
      const row = await overview.one(id, withChange)
      if (!row) throw errors.COLLECTION_NOT_FOUND(id)
      return tell(row, withStats)
    },
  )

  app.get(
    '/collections',
    {
      schema: {
        tags,
        operationId: 'listCollections',
        summary: 'Collections, in the order of their ids or another',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            limit: { type: 'integer', minimum: 1, maximum: LARGEST_LIMIT, default: DEFAULT_LIMIT },
            after: { type: 'string', pattern: CURSOR, description: 'What the page before gave as `next`.' },
            include,
            sort: {
              type: 'string',
              enum: SORTS,
              default: 'id',
              description:
                'By what; with `-` the largest first. `rate` is engagements by impressions; `24h`, `7d` and `30d` are ' +
                'how many impressions came. What has none comes last.',
            },
            q: {
              type: 'string',
              maxLength: LONGEST_QUESTION,
              description: 'Words that all are in the id, the name or the tags; capitals do not matter.',
            },
            tag: { type: 'string', maxLength: LONGEST_QUESTION, description: 'Only those with this tag.' },
          },
        },
        response: {
          200: {
            type: 'object',
            title: 'Collections',
            required: ['collections'],
            examples: [{ collections: overviewRow.examples }],
            additionalProperties: false,
            properties: {
              collections: { type: 'array', items: overviewRow },
              next: { type: 'string', description: 'What to give as `after` for the next page, if there may be one.' },
            },
          },
          ...buildReadReplies(errors.STATE_UNAVAILABLE, house.VALIDATION_FAILED, errors.CURSOR_UNKNOWN),
        },
      },
    },
    async ({ query }): Promise<any> => {
      const { limit = DEFAULT_LIMIT, after, include: asked, sort = 'id', q, tag } = query
      if (asked === undefined && sort === 'id' && q === undefined && tag === undefined) {
        const page = await collections.list(after ?? '', limit)
        return { collections: page.map(toReply), next: page.length === limit ? page.at(-1)!.id : undefined }
      }
      const { withStats, withChange } = partsOf(asked)
      const place = after === undefined ? undefined : placeOf(sort, after)
      const { rows, end } = await overview.page({ sort, limit, after: place, q, tag, withChange })
      return { collections: rows.map((row) => tell(row, withStats)), next: end && toCursor(sort, end) }
    },
  )
}

function placeOf(sort: Sort, cursor: string) {
  const place = fromCursor(sort, cursor)
  if (!place) throw errors.CURSOR_UNKNOWN(`${cursor.slice(0, 100)}, in the order of ${sort}`)
  return place
}

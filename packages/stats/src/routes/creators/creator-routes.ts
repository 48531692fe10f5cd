import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { StatsCache } from '../../cache/stats-cache.ts'
import type { Collections } from '../../campaigns/collections.ts'
import { isChannelId, type Creators } from '../../campaigns/creators/creator-index.ts'
import type { CreatorSummary, CreatorVideo } from '../../campaigns/creators/creator.ts'
import { toCursor } from '../../campaigns/overview/overview-selection.ts'
import { toIsoTime } from '../../core/iso-time.ts'
import { isStale, toByVideo } from '../../core/prepared-reply.ts'
import { isShort } from '../../core/video-details.ts'
import { toVideoUrl } from '../../core/video-links.ts'
import { errors } from '../../errors.ts'
import { DEFAULT_LIMIT, requirePosition } from '../page-query.ts'
import { creatorParams, creatorReply, creatorsQuery, creatorsReply } from './creator-schemas.ts'

const tags = ['creators']

interface CreatorRouteOptions {
  readonly collections: Pick<Collections, 'state'>
  readonly creators: Creators
  readonly cache: Pick<StatsCache, 'getStaleAfter'>
}

/** Number of points and of details per read: about 2 ms of work. */
const ROWS_PER_READ = 500

/** Registers the routes with the creators of all collections. */
export function registerCreatorRoutes(
  app: App,
  { collections: { state }, creators, cache }: CreatorRouteOptions,
): void {
  function toReply({ asOf, at, ...creator }: CreatorSummary): object {
    if (asOf === undefined || at === undefined) return creator
    return { ...creator, asOf: toIsoTime(asOf), stale: isStale({ at }, steadyNow(), cache.getStaleAfter()) }
  }

  async function readVideos(videos: readonly CreatorVideo[]): Promise<object[]> {
    const replies: object[] = []
    for (let i = 0; i < videos.length; i += ROWS_PER_READ) {
      const some = videos.slice(i, i + ROWS_PER_READ)
      const details = await state.getVideos(some.map(({ id }) => id))
      for (const [j, { id, numbers, campaigns }] of some.entries()) {
        const { asOf: _asOf, ...known } = details[j] ?? {}
        replies.push({
          ...known,
          ...(isShort(known) && { isShort: true }),
          url: toVideoUrl(id),
          ...toByVideo(numbers),
          campaigns,
        })
      }
    }
    return replies
  }

  async function readHistory(channel: string): Promise<object[]> {
    const points: object[] = []
    for (let after: string | undefined; isChannelId(channel);) {
      const range = { prefix: `${channel}/`, ...(after !== undefined && { after }), limit: ROWS_PER_READ }
      const page = await state.listRecords('channel-point', range)
      for (const { key, value } of page) {
        const { subscribers, views, videos } = value
        points.push({ at: toIsoTime(Number(key.slice(channel.length + 1))), subscribers, views, videos })
      }
      if (page.length < ROWS_PER_READ) break
      after = page.at(-1)!.key
    }
    return points
  }

  app.get(
    '/creators',
    {
      schema: {
        tags,
        operationId: 'listCreators',
        summary: 'List the creators of all collections, by default those with the most views first',
        querystring: creatorsQuery,
        response: {
          200: creatorsReply,
          ...buildReadReplies(errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED, errors.INVALID_CURSOR),
        },
      },
    },
    async ({ query }): Promise<any> => {
      const { limit = DEFAULT_LIMIT, after, sort = '-impressions', q } = query
      const position = after === undefined ? undefined : requirePosition(sort, after)
      const { rows, total, end } = await creators.getPage({ sort, q, limit, after: position })
      return { creators: rows.map(toReply), total, next: end && toCursor(sort, end) }
    },
  )

  app.get(
    '/creators/:id',
    {
      schema: {
        tags,
        operationId: 'getCreator',
        summary: 'A creator with its collections, its videos and the history of its channel',
        params: creatorParams,
        response: {
          200: creatorReply,
          ...buildReadReplies(errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED, errors.CREATOR_NOT_FOUND),
        },
      },
    },
    async ({ params: { id } }): Promise<any> => {
      const found = await creators.getDetails(id)
      if (!found) throw errors.CREATOR_NOT_FOUND(id)
      const [videos, history] = await Promise.all([readVideos(found.videos), readHistory(id)])
      return { ...toReply(found.summary), campaigns: found.campaigns, videos, history }
    },
  )
}

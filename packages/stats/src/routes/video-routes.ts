import { closedObject } from '@influencer-stats/runtime/closed-object'
import type { App } from '@influencer-stats/runtime/http'
import type { StatsCache } from '../cache/stats-cache.ts'
import type { Collections } from '../campaigns/collections.ts'
import { computeCosts, getTotalCost } from '../core/campaign.ts'
import { BYTE_ORDER_MARK, formatCsvLine } from '../core/csv/csv-line.ts'
import type { PostResource } from '../core/posts/post.ts'
import { addReported } from '../core/posts/reported.ts'
import { COUNT_NAMES } from '../core/video-numbers.ts'
import { errors } from '../errors.ts'
import type { Collection } from '../state/stats-state.ts'
import { listPosts } from './posts/post-list.ts'
import { readVideosView, type VideoResource, type VideosView } from './videos-view.ts'
import { toCollectionReply } from './overview-routes.ts'
import { collectionParams } from './collection-schemas.ts'
import { exportReply, videosView } from './stats-schemas.ts'
import { buildNumbersReplies } from './upstream-route.ts'

const tags = ['videos']

/** Registers the routes with the videos of a collection and its export as a file. */
export function registerVideoRoutes(app: App, collections: Collections, cache: StatsCache): void {
  /** @throws Problem `COLLECTION_NOT_FOUND` */
  async function read(id: string): Promise<VideosView> {
    const view = await readVideosView(id, collections, cache)
    if (!view) throw errors.COLLECTION_NOT_FOUND(id)
    return view
  }

  app.get(
    '/collections/:id/videos',
    {
      schema: {
        tags,
        operationId: 'listVideos',
        summary: 'List the videos of a collection with titles, numbers and removals',
        params: collectionParams,
        response: { 200: videosView, ...buildNumbersReplies() },
      },
    },
    async ({ params: { id } }): Promise<any> => {
      const { stats, videos } = await read(id)
      return { videos, asOf: stats.asOf, stale: stats.stale }
    },
  )

  app.get(
    '/collections/:id/export',
    {
      schema: {
        tags,
        operationId: 'exportCollection',
        summary: 'Export a collection and its videos as a file',
        params: collectionParams,
        querystring: closedObject({ format: { type: 'string', enum: ['json', 'csv'], default: 'json' } }),
        response: {
          200: {
            description:
              'The file. CSV has one line per video and post; JSON has the collection, its sums, its videos and posts.',
            content: { 'application/json': { schema: exportReply }, 'text/csv': { schema: { type: 'string' } } },
          },
          ...buildNumbersReplies(),
        },
      },
    },
    async ({ params: { id }, query }, reply): Promise<any> => {
      const view = await read(id)
      const posts = view.stats.reported ? await listPosts(collections.state, id) : []
      const { format = 'json' } = query
      void reply.header('content-disposition', `attachment; filename="${id}.${format}"`)
      if (format === 'csv') return reply.type('text/csv; charset=utf-8; header=present').send(toCsv(view, posts))
      const { collection, stats, videos } = view
      const cost = getTotalCost(collection)
      return {
        ...toCollectionReply(collection),
        stats,
        ...(cost !== undefined && { costs: computeCosts(cost, addReported(stats, stats.reported)) }),
        videos,
        ...(posts.length > 0 && { posts }),
      }
    },
  )
}

const CSV_HEADER =
  'collection,name,video,url,title,channel,published,views,likes,comments,dislikes,gone since,missing,as of,stale,reason'

/** Columns that only a collection with posts has. */
const POST_COLUMNS = ['platform', 'post', 'shares', 'saves']

function toCsv({ collection, stats, videos }: VideosView, posts: readonly PostResource[]): string {
  const lines = videos.map((video) => {
    const { id, url, title, channel, publishedAt, views, likes, comments, dislikes, gone, missing } = video
    const columns = [collection.id, collection.name, id, url, title, channel, publishedAt]
    // The last numbers of a removed video are older than those of the other videos.
    const isKnown = COUNT_NAMES.some((count) => video[count] !== undefined)
    const asOf = isKnown ? (gone?.asOf ?? stats.asOf) : undefined
    const stale = isKnown ? String(stats.stale) : undefined
    const state = [gone?.since, missing && 'true', asOf, stale, getReason(video, isKnown)]
    return formatCsvLine([...columns, views, likes, comments, dislikes, ...state])
  })
  const header = [...CSV_HEADER.split(','), ...(posts.length > 0 ? POST_COLUMNS : [])]
  return BYTE_ORDER_MARK + formatCsvLine(header) + lines.join('') + posts.map(toPostLine(collection)).join('')
}

const toPostLine = (collection: Collection) => (post: PostResource) => {
  const { id, platform, url, title, creator, published, numbers } = post
  const { views, likes, comments, shares, saves, asOf } = numbers ?? ({} as NonNullable<PostResource['numbers']>)
  const columns = [collection.id, collection.name, undefined, url, title, creator, published]
  const reason = numbers ? 'reported by a person or a program' : 'no numbers reported yet'
  const state = [undefined, undefined, undefined, asOf, undefined, reason]
  return formatCsvLine([...columns, views, likes, comments, ...state, platform, id, shares, saves])
}

const listFormat = new Intl.ListFormat('en')

/** Returns the reason for empty cells, or for cells older than the others. */
function getReason(
  { missing, gone, hidden, hiddenSince, ...video }: VideoResource,
  isKnown: boolean,
): string | undefined {
  if (missing) return 'YouTube never returned this video'
  if (!isKnown) return 'no numbers from YouTube yet'
  if (gone) return 'removed or private; last known numbers'
  if (!hidden) return undefined
  const known = hidden.filter((count) => video[count] !== undefined)
  const last = known.length > 0 ? `; last known ${listFormat.format(known)}` : ''
  return `YouTube has not stated ${listFormat.format(hidden)} since ${hiddenSince}${last}`
}

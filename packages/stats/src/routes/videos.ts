import type { App } from '@influencer-stats/runtime/http'
import type { StatsCache } from '../cache/cache.ts'
import type { Collections } from '../collections.ts'
import { costsOf } from '../core/campaign.ts'
import { csvLine } from '../core/csv.ts'
import { COUNTS } from '../core/numbers.ts'
import { errors } from '../errors.ts'
import { videosOf, type ToldVideo, type ToldVideos } from '../videos-of.ts'
import { toReply } from './overview.ts'
import { collectionParams } from './schemas.ts'
import { exportReply, toldVideos } from './stats-schemas.ts'
import { numbersReplies } from './upstream.ts'

const tags = ['videos']

/** The videos of a collection one by one, and all of it as a file. */
export function videoRoutes(app: App, collections: Collections, cache: StatsCache): void {
  /** @throws Problem `COLLECTION_NOT_FOUND` */
  async function read(id: string): Promise<ToldVideos> {
    const told = await videosOf(id, collections, cache)
    if (!told) throw errors.COLLECTION_NOT_FOUND(id)
    return told
  }

  app.get(
    '/collections/:id/videos',
    {
      schema: {
        tags,
        operationId: 'listVideos',
        summary: 'The videos of a collection: titles, numbers, which are gone',
        params: collectionParams,
        response: { 200: toldVideos, ...numbersReplies() },
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
        summary: 'A collection and its videos as a file',
        params: collectionParams,
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: { format: { type: 'string', enum: ['json', 'csv'], default: 'json' } },
        },
        response: {
          200: {
            description: 'The file: in CSV a line a video, in JSON the collection, its sums and its videos.',
            content: { 'application/json': { schema: exportReply }, 'text/csv': { schema: { type: 'string' } } },
          },
          ...numbersReplies(),
        },
      },
    },
    async ({ params: { id }, query }, reply): Promise<any> => {
      const told = await read(id)
      const { format = 'json' } = query
      void reply.header('content-disposition', `attachment; filename="${id}.${format}"`)
      if (format === 'csv') return reply.type('text/csv; charset=utf-8; header=present').send(toCsv(told))
      const { collection, stats, videos } = told
      const { cost } = collection
      return {
        ...toReply(collection),
        stats,
        ...(cost !== undefined && { costs: costsOf(cost, stats) }),
        videos,
      }
    },
  )
}

const HEAD =
  'collection,name,video,url,title,channel,published,views,likes,comments,dislikes,gone since,missing,as of,stale,reason'

/** Spreadsheets take what does not begin so for another encoding. */
const BYTE_ORDER_MARK = '\ufeff'

function toCsv({ collection, stats, videos }: ToldVideos): string {
  const lines = videos.map((video) => {
    const { id, url, title, channel, publishedAt, views, likes, comments, dislikes, gone, missing } = video
    const said = [collection.id, collection.name, id, url, title, channel, publishedAt]
    // The last numbers of what is gone are not of the same time as the rest.
    const isKnown = COUNTS.some((count) => video[count] !== undefined)
    const asOf = isKnown ? (gone?.asOf ?? stats.asOf) : undefined
    const stale = isKnown ? String(stats.stale) : undefined
    const state = [gone?.since, missing && 'true', asOf, stale, reasonOf(video, isKnown)]
    return csvLine([...said, views, likes, comments, dislikes, ...state])
  })
  return BYTE_ORDER_MARK + csvLine(HEAD.split(',')) + lines.join('')
}

const listed = new Intl.ListFormat('en')

/** Returns why cells are empty, or older than the others. */
function reasonOf({ missing, gone, hidden, hiddenSince, ...video }: ToldVideo, isKnown: boolean): string | undefined {
  if (missing) return 'YouTube gives no numbers of it'
  if (!isKnown) return 'YouTube has not given its numbers yet'
  if (gone) return 'removed or private; last known numbers'
  if (!hidden) return undefined
  const known = hidden.filter((count) => video[count] !== undefined)
  const last = known.length > 0 ? `; last known ${listed.format(known)}` : ''
  return `YouTube has not stated ${listed.format(hidden)} since ${hiddenSince}${last}`
}

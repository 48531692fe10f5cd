import { closedObject } from '@influencer-stats/runtime/closed-object'
import { defineHotRoute, type BufferedReply } from '@influencer-stats/runtime/hot-route'
import type { StatsCache } from '../cache/stats-cache.ts'
import { formatBody, getReplyEtag, isStale, prepareByVideo, type PreparedReply } from '../core/prepared-reply.ts'
import { errors } from '../errors.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { collectionParams } from './collection-schemas.ts'
import { buildNumbersReplies } from './upstream-route.ts'
import { statsReply } from './stats-schemas.ts'

interface StatsQuery {
  readonly id: string
  readonly byVideo: boolean
}

const STATS_PATH_PATTERN = /^\/collections\/[A-Za-z0-9._~-]{1,128}\/stats$/
const ID_AT = '/collections/'.length

/** The hottest route of the project: if the reply is prepared, a read is one look-up. */
export const createStatsRoute = (cache: StatsCache) => {
  /** @throws Problem `COLLECTION_NOT_FOUND` */
  function toReply(found: PreparedReply | undefined): BufferedReply {
    if (!found) throw errors.COLLECTION_NOT_FOUND()
    const now = steadyNow()
    return createReply(formatReply(found, isStale(found, now, cache.getStaleAfter())), getAge(found, now))
  }

  /** As `toReply`, for a prepared reply that is sent repeatedly: it is built again only when its age in seconds changes. */
  function toReusedReply(found: PreparedReply): BufferedReply {
    const now = steadyNow()
    const stale = isStale(found, now, cache.getStaleAfter())
    const age = getAge(found, now)
    const last = replies.get(found)
    if (last?.age === age && last.stale === stale) return last.reply
    const formatted = last?.stale === stale ? last.reply : formatReply(found, stale)
    const reply = { ...createReply(formatted, age), isReused: true }
    replies.set(found, { age, stale, reply })
    return reply
  }

  return defineHotRoute<StatsQuery>({
    method: 'GET',
    url: '/collections/:id/stats',
    schema: {
      tags: ['statistics'],
      operationId: 'getStats',
      summary: 'Read the summed statistics of a collection',
      description:
        'impressions = views; engagements = likes + comments (+ dislikes if known); score = engagements + likes. ' +
        'With `If-None-Match`, 304 if nothing changed.',
      params: collectionParams,
      querystring: closedObject({
        by: { type: 'string', enum: ['video'], description: 'Adds the numbers of each video.' },
      }),
      response: {
        200: statsReply,
        304: { type: 'null', description: 'Unchanged.' },
        ...buildNumbersReplies(),
      },
    },
    match(target) {
      if (!STATS_PATH_PATTERN.test(target)) return undefined
      return { id: target.slice(ID_AT, -'/stats'.length), byVideo: false }
    },
    read({ params, query }) {
      return { id: (params as { id: string }).id, byVideo: (query as { by?: string }).by === 'video' }
    },
    // With the cache `poller` only the main thread has each video's numbers.
    shouldQueue: ({ byVideo }) => byVideo,
    answer({ id, byVideo }) {
      if (byVideo) return cache.readNumbers(id).then((reading) => toReply(reading && prepareByVideo(reading)))
      const ready = cache.getReady(id)
      return ready ? toReusedReply(ready) : cache.read(id).then(toReply)
    },
  })
}

type FormattedReply = Pick<BufferedReply, 'etag' | 'body'>

/** A reply with the numbers of a prepared one, and their age (s). */
interface AgedReply {
  readonly age: number
  readonly stale: boolean
  readonly reply: BufferedReply
}

const replies = new WeakMap<PreparedReply, AgedReply>()

/** Returns the age of the numbers (s). */
const getAge = ({ at }: PreparedReply, now: number): number => Math.max(0, Math.floor((now - at) / 1000))

const formatReply = (prepared: PreparedReply, stale: boolean): FormattedReply => ({
  etag: getReplyEtag(prepared, stale),
  body: formatBody(prepared, stale),
})

const createReply = ({ body, etag }: FormattedReply, age: number): BufferedReply => ({
  status: 200,
  headers: ['age', String(age), 'cache-control', 'no-cache'],
  etag,
  type: 'application/json; charset=utf-8',
  body,
})

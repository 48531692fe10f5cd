import { errors as house } from '@influencer-stats/runtime/errors'
import { hookHeaders } from '@influencer-stats/runtime/hijack'
import { since, type App } from '@influencer-stats/runtime/http'
import { readReplies } from '@influencer-stats/runtime/replies'
import type { CommonSettings } from '@influencer-stats/runtime/settings'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StatsCache } from '../cache/cache.ts'
import type { Prepared } from '../core/prepared.ts'
import { errors } from '../errors.ts'
import { writePrepared } from '../server/write.ts'
import { collectionParams, statsReply } from './schemas.ts'

const URL = '/collections/:id/stats'

/** The hottest route of the house. Where the reply is ready it is sent at once, past Fastify's serialisation. */
export function statsRoutes(app: App, cache: StatsCache, config: Pick<CommonSettings, 'corsOrigins'>): void {
  const headersOf = hookHeaders(config)
  app.get(
    URL,
    {
      config: { selfMeasured: true },
      schema: {
        tags: ['statistics'],
        summary: 'The summed statistics of a collection',
        description:
          'impressions = views; engagements = likes + comments (+ dislikes where given); score = engagements + likes. ' +
          'With `If-None-Match`, 304 if nothing changed.',
        params: collectionParams,
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: { by: { type: 'string', enum: ['video'], description: "Adds each video's numbers." } },
        },
        response: {
          200: statsReply,
          304: { type: 'null', description: 'Unchanged.' },
          ...readReplies(
            house.VALIDATION_FAILED,
            errors.COLLECTION_NOT_FOUND,
            errors.STATE_UNAVAILABLE,
            errors.UPSTREAM_UNAVAILABLE,
            errors.STATS_NOT_READY,
          ),
        },
      },
    },
    (request, reply) => {
      const { id } = request.params
      const byVideo = request.query.by === 'video'
      const ready = byVideo ? undefined : cache.ready(id)
      if (!ready)
        return (byVideo ? cache.readByVideo(id) : cache.read(id)).then((found) => answer(request, reply, found))
      answer(request, reply, ready)
      return undefined
    },
  )
  const figures = { GET: app.figuresOf('GET', URL), HEAD: app.figuresOf('HEAD', URL) }

  function answer(request: FastifyRequest, reply: FastifyReply, prepared: Prepared | undefined): void {
    if (!prepared) throw errors.COLLECTION_NOT_FOUND()
    reply.hijack()
    const status = writePrepared(reply.raw, prepared, headersOf(reply), request.headers['if-none-match'])
    figures[request.method as 'GET' | 'HEAD'].observe(status, since(request))
  }
}

import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { readReplies } from '@influencer-stats/runtime/replies'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StatsCache } from '../cache/cache.ts'
import type { Prepared } from '../core/prepared.ts'
import { errors } from '../errors.ts'
import { writePrepared } from '../server/write.ts'
import { collectionParams, statsReply } from './schemas.ts'

/** The hottest route of the house. Where the reply is ready it is sent at once, past Fastify's serialisation. */
export function statsRoutes(app: App, cache: StatsCache): void {
  app.get(
    '/collections/:id/stats',
    {
      schema: {
        tags: ['statistics'],
        summary: 'The summed statistics of a collection',
        description:
          'impressions = views; engagements = likes + comments (+ dislikes where given); score = engagements + likes.',
        params: collectionParams,
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: { by: { type: 'string', enum: ['video'], description: "Adds each video's numbers." } },
        },
        headers: {
          type: 'object',
          properties: { 'if-none-match': { type: 'string', description: 'An ETag; 304 if it still holds.' } },
        },
        response: {
          200: statsReply,
          304: { type: 'null', description: 'Unchanged.' },
          ...readReplies(
            house.VALIDATION_FAILED,
            errors.COLLECTION_NOT_FOUND,
            errors.UPSTREAM_UNAVAILABLE,
            errors.STATS_NOT_READY,
          ),
        },
      },
    },
    (request, reply) => {
      const { id } = request.params
      const found = request.query.by === 'video' ? cache.readByVideo(id) : cache.read(id)
      if (found instanceof Promise) return found.then((prepared) => answer(request, reply, prepared, id))
      answer(request, reply, found, id)
      return undefined
    },
  )
}

function answer(request: FastifyRequest, reply: FastifyReply, prepared: Prepared | undefined, id: string): void {
  if (!prepared) throw errors.COLLECTION_NOT_FOUND(id)
  reply.hijack()
  writePrepared(reply.raw, prepared, request.id, request.headers['if-none-match'])
}

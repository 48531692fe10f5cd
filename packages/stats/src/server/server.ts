import type { Manners } from '@influencer-stats/runtime/http'
import type { FastifyServerFactory } from 'fastify'
import type { StatsCache } from '../cache/cache.ts'

/** Who answers `GET /collections/:id/stats`, the hottest route; everything else is Fastify's. */
export interface StatsServer {
  /** A server of its own, for an alternative that answers ahead of Fastify. */
  serverFactory?(cache: StatsCache): (manners: Manners) => FastifyServerFactory
}

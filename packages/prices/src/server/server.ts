import type { Manners } from '@influencer-stats/runtime/http'
import type { AppContext } from '@influencer-stats/runtime/service'
import type { FastifyServerFactory } from 'fastify'
import type { Views } from '../view.ts'

export interface ServerOptions {
  readonly views: Views
  /** Every name that a path may have for an index. */
  readonly names: readonly string[]
  /** Longest body (bytes). */
  readonly bodyLimit: number
  readonly log: AppContext<unknown, never, never>['log']
}

/** Who answers single searches, the hottest requests; everything else is Fastify's. */
export interface PricesServer {
  /** A server of its own, for an alternative that answers ahead of Fastify. */
  serverFactory?(options: ServerOptions): (manners: Manners) => FastifyServerFactory
}

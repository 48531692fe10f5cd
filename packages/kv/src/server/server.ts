import type { Manners } from '@influencer-stats/runtime/http'
import type { FastifyServerFactory } from 'fastify'
import type { Store } from '../store/store.ts'

export interface ServerOptions {
  readonly store: Store
  /** Largest value (bytes). */
  readonly valueLimit: number
}

/** Who answers plain GET and PUT of one value, the hottest requests; everything else is Fastify's. */
export interface KvServer {
  /** A server of its own, for an alternative that answers ahead of Fastify. */
  serverFactory?(options: ServerOptions): (manners: Manners) => FastifyServerFactory
}

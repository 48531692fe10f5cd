import type { ValuesOf } from '@influencer-stats/runtime/settings'
import type { settings } from './settings.ts'

type Row = Partial<ValuesOf<typeof settings>>

/**
 * The named combinations worth measuring, v1 the naive one, v7 the default. v1 to v5 change one part a step; like the
 * programs they mirror, they spend as much quota as they are asked to.
 */
export const variants = {
  v1: { logger: 'console', state: 'list', client: 'fetch', cache: 'none', server: 'fastify', dailyBudget: 0 },
  v2: { logger: 'dropping', state: 'list', client: 'fetch', cache: 'none', server: 'fastify', dailyBudget: 0 },
  v3: { logger: 'dropping', state: 'list', client: 'undici-pool', cache: 'none', server: 'fastify', dailyBudget: 0 },
  v4: { logger: 'dropping', state: 'list', client: 'undici-pool', cache: 'refresh', server: 'fastify', dailyBudget: 0 },
  v5: {
    logger: 'dropping',
    state: 'list',
    client: 'undici-pool',
    cache: 'refresh',
    server: 'node-http',
    dailyBudget: 0,
  },
  v6: { logger: 'pino', state: 'level', client: 'batching', cache: 'lru', server: 'fastify' },
  v7: { logger: 'pino', state: 'level', client: 'batching', cache: 'poller', server: 'node-http' },
} satisfies Record<string, Row>

import type { SettingValues } from '@influencer-stats/runtime/define-settings'
import type { CommonSettings } from '@influencer-stats/runtime/settings'
import type { settings } from './settings.ts'

type StatsVariant = Partial<SettingValues<typeof settings> & Pick<CommonSettings, 'server'>>

// V8's default (MB). With 1 MB the garbage of three calls to YouTube per read takes twice the processor time (v3: 267 us,
// not 134).
const maxSemiSpaceSize = 16
const sourceProjectOptions = { state: 'list', dailyBudget: 0, maxSemiSpaceSize } as const

/**
 * Named combinations of parts: v1 is the naive one, v8 the default. v1 to v5 imitate the programs of the source project
 * and change one part per step. Like those programs, they have no quota limit.
 */
export const variants = {
  v1: { logger: 'console', ...sourceProjectOptions, client: 'fetch', cache: 'none', server: 'fastify' },
  v2: { logger: 'dropping', ...sourceProjectOptions, client: 'fetch', cache: 'none', server: 'fastify' },
  v3: { logger: 'dropping', ...sourceProjectOptions, client: 'undici-pool', cache: 'none', server: 'fastify' },
  v4: { logger: 'dropping', ...sourceProjectOptions, client: 'undici-pool', cache: 'refresh', server: 'fastify' },
  v5: { logger: 'dropping', ...sourceProjectOptions, client: 'undici-pool', cache: 'refresh', server: 'node-http' },
  v6: { logger: 'pino', state: 'level', client: 'batching', cache: 'lru', server: 'fastify', maxSemiSpaceSize },
  v7: { logger: 'pino', state: 'level', client: 'batching', cache: 'poller', server: 'node-http' },
  v8: { logger: 'pino', state: 'level', client: 'batching', cache: 'poller', server: 'raw' },
} satisfies Record<string, StatsVariant>

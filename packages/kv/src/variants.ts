import type { CommonSettings } from '@influencer-stats/runtime/settings'
import type { KvConfig } from './settings.ts'

/**
 * Named combinations of parts for benchmarks. v1 stores data in memory only, v2 writes one batch for each write, v5 is
 * the default.
 */
export const variants = {
  // Shows the cost of HTTP alone: no data is persisted.
  v1: { store: 'memory', server: 'fastify' },
  v2: { store: 'level', commit: 'single', server: 'fastify' },
  v3: { store: 'level', commit: 'group', server: 'fastify' },
  v4: { store: 'level', commit: 'group', server: 'node-http' },
  v5: { store: 'level', commit: 'group', server: 'raw' },
} satisfies Record<string, Partial<KvConfig & Pick<CommonSettings, 'server'>>>

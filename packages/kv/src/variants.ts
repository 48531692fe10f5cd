import type { CommonSettings } from '@influencer-stats/runtime/settings'
import type { KvConfig } from './settings.ts'

/** The named combinations worth measuring, one step each: v1 keeps nothing, v2 is the naive one, v5 the default. */
export const variants = {
  // What HTTP alone costs: nothing is kept.
  v1: { store: 'memory', server: 'fastify' },
  v2: { store: 'level', commit: 'single', server: 'fastify' },
  v3: { store: 'level', commit: 'group', server: 'fastify' },
  v4: { store: 'level', commit: 'group', server: 'node-http' },
  v5: { store: 'level', commit: 'group', server: 'raw' },
} satisfies Record<string, Partial<KvConfig & Pick<CommonSettings, 'server'>>>

import type { CommonSettings } from '@influencer-stats/runtime/settings'
import type { SseConfig } from './settings.ts'

/**
 * Combinations of parts that benchmarks compare. v1 is naive, v6 has the defaults; a step changes one or two settings.
 */
export const variants = {
  v1: { broker: 'local', history: 'none', fanout: 'each', server: 'fastify' },
  v2: { broker: 'local', history: 'none', fanout: 'joined', server: 'fastify' },
  v3: { broker: 'local', history: 'none', fanout: 'joined', server: 'node-http' },
  v4: { broker: 'threads', history: 'ring', fanout: 'joined', server: 'node-http' },
  v5: { broker: 'threads', history: 'level', fanout: 'joined', server: 'node-http' },
  v6: { broker: 'threads', history: 'ring', fanout: 'joined', server: 'raw' },
} satisfies Record<string, Partial<SseConfig & Pick<CommonSettings, 'server'>>>

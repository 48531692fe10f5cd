import type { SseConfig } from './settings.ts'

/** The named combinations worth measuring, v1 the naive one, v4 the default; each step changes one thing. */
export const variants = {
  v1: { broker: 'local', history: 'none', fanout: 'each', door: 'fastify' },
  v2: { broker: 'local', history: 'none', fanout: 'joined', door: 'fastify' },
  v3: { broker: 'local', history: 'none', fanout: 'joined', door: 'raw' },
  v4: { broker: 'threads', history: 'ring', fanout: 'joined', door: 'raw' },
  v5: { broker: 'threads', history: 'level', fanout: 'joined', door: 'raw' },
} satisfies Record<string, Partial<SseConfig>>

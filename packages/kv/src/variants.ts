import type { KvConfig } from './settings.ts'

/** The named combinations worth measuring, one step each: v1 keeps nothing, v2 is the naive one, v4 the default. */
export const variants = {
  // What HTTP alone costs: nothing is kept.
  v1: { store: 'memory', server: 'fastify' },
  v2: { store: 'level', commit: 'single', server: 'fastify' },
  v3: { store: 'level', commit: 'group', server: 'fastify' },
  v4: { store: 'level', commit: 'group', server: 'node-http' },
} satisfies Record<string, Partial<KvConfig>>

import type { KvConfig } from './settings.ts'

/** The named combinations worth measuring: v1 the naive one, v3 the default. */
export const variants = {
  v1: { store: 'level', commit: 'single' },
  // What HTTP alone costs: nothing is kept.
  v2: { store: 'memory', commit: 'group' },
  v3: { store: 'level', commit: 'group' },
} satisfies Record<string, Partial<KvConfig>>

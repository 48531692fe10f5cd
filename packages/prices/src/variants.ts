import type { ValuesOf } from '@influencer-stats/runtime/settings'
import type { settings } from './settings.ts'

type Row = Partial<ValuesOf<typeof settings>>

/** The named combinations worth measuring: v1 the naive one, v4 the default; v6 with the least memory. */
export const variants = {
  v1: { indexes: ['map'], catalog: 'memory' },
  v2: { indexes: ['map-first-match'], catalog: 'memory' },
  v3: { indexes: ['roaring'], catalog: 'memory' },
  v4: { indexes: ['roaring-offering'], catalog: 'memory' },
  v5: { indexes: ['bitset'], catalog: 'memory' },
  v6: { indexes: ['roaring-offering'], catalog: 'lru-level' },
} satisfies Record<string, Row>

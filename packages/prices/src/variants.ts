import type { SettingValues } from '@influencer-stats/runtime/define-settings'
import type { CommonSettings } from '@influencer-stats/runtime/settings'
import type { settings } from './settings.ts'

type PricesVariant = Partial<SettingValues<typeof settings> & Pick<CommonSettings, 'server'>>

/** Named combinations for measurements: v1 is the naive one, v8 the default, v7 the one with the least memory. */
export const variants = {
  v1: { indexes: ['map'], catalog: 'memory', server: 'fastify' },
  v2: { indexes: ['map-first-match'], catalog: 'memory', server: 'fastify' },
  v3: { indexes: ['roaring'], catalog: 'memory', server: 'fastify' },
  v4: { indexes: ['roaring-offering'], catalog: 'memory', server: 'fastify' },
  v5: { indexes: ['bitset'], catalog: 'memory', server: 'fastify' },
  v6: { indexes: ['roaring-offering'], catalog: 'memory', server: 'node-http' },
  v7: { indexes: ['roaring-offering'], catalog: 'lru-level', server: 'node-http' },
  v8: { indexes: ['roaring-offering'], catalog: 'memory', server: 'raw' },
} satisfies Record<string, PricesVariant>

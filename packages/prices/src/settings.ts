import { commonSettings, defineSettings, type ValuesOf } from '@influencer-stats/runtime/settings'
import { BITMAP, namesOf } from './parts.ts'

/** The settings of the prices service. */
export const settings = defineSettings({
  indexes: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [BITMAP],
    description: `which indexes are built: ${namesOf('index').join(', ')}`,
  },
  catalog: { type: 'string', enum: namesOf('catalog'), default: 'memory', description: 'who keeps the answers' },
  server: {
    type: 'string',
    enum: namesOf('server'),
    default: 'node-http',
    description: 'who answers single searches',
  },
  sample: {
    type: 'string',
    enum: ['yes', 'no'],
    default: 'yes',
    description: 'whether an empty data folder begins with the sample catalog',
  },
  cacheBytes: {
    type: 'integer',
    default: 2_097_152,
    minimum: 16_384,
    maximum: 4_294_967_296,
    description: 'answers that the lru-level catalog keeps, each thread (bytes)',
  },
  maxPrices: {
    type: 'integer',
    default: 5_000_000,
    minimum: 1,
    maximum: 100_000_000,
    description: 'an import may not leave more prices than this',
  },
  readTimeout: {
    type: 'integer',
    default: 30_000,
    minimum: 1,
    maximum: 3_600_000,
    description: 'a client that reads nothing of its answers for so long is cut off (ms)',
  },
  // An import of millions takes minutes to arrive, and a bulk request as long as its answers are read.
  requestTimeout: { ...commonSettings.requestTimeout, default: 600_000 },
})

/** The prices service's own settings. */
export type PricesConfig = ValuesOf<typeof settings>

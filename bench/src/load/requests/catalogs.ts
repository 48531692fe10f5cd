import type { SimplePrice } from '@influencer-stats/prices/core/price'
import { createSeededRandom, drawUuid } from '@influencer-stats/prices/sample/seeded-random'
import { generateSamplePrices } from '@influencer-stats/prices/sample/sample-catalog'

/** A generated catalog, equal in every process. The value of a price is its row number, to check answers. */
export interface CatalogPlan {
  /** The sample catalog, or one with a uniform distribution. */
  readonly kind: 'sample' | 'uniform'
  readonly offerings: number
}

/** The sample catalog: 487,200 prices of 5 characteristics. */
export const SAMPLE: CatalogPlan = { kind: 'sample', offerings: 50 }
/** 2 million prices of 20 characteristics with 10 values each. */
export const UNIFORM: CatalogPlan = { kind: 'uniform', offerings: 200 }

/** Numbers of offerings in the sample catalogs of growth tables, from 10,000 prices to 2 million. */
export const GROWTH_OFFERINGS = [1, 10, 50, 205]

const ROWS_PER_OFFERING = { sample: 9_744, uniform: 10_000 } as const
const CHARACTERISTICS = { sample: 5, uniform: 20 } as const
const VALUES_PER_CHARACTERISTIC = 10
const GROUPS = 5
const SPECS = ['MRC', 'NRC']
const SEED = 20_261_121

export const getCatalogSize = ({ kind, offerings }: CatalogPlan): number => offerings * ROWS_PER_OFFERING[kind]
export const countCharacteristics = ({ kind }: CatalogPlan): number => CHARACTERISTICS[kind]

export const generatePrices = ({ kind, offerings }: CatalogPlan): Iterable<SimplePrice> =>
  kind === 'sample' ? generateSamplePrices(offerings) : generateUniformPrices(offerings)

function* generateUniformPrices(offerings: number): Generator<SimplePrice> {
  const random = createSeededRandom(SEED)
  const names = Array.from({ length: CHARACTERISTICS.uniform }, (_, i) => `Characteristic ${i + 1}`)
  for (let offering = 0, row = 0; offering < offerings; offering++) {
    const offeringId = drawUuid(random)
    for (let i = 0; i < ROWS_PER_OFFERING.uniform; i++) {
      yield {
        id: drawUuid(random),
        offeringId,
        groupId: `group${1 + random(GROUPS)}`,
        priceSpecId: SPECS[random(SPECS.length)]!,
        charValues: names.map((char) => ({ char, value: `Value ${1 + random(VALUES_PER_CHARACTERISTIC)}` })),
        value: row++,
      }
    }
  }
}

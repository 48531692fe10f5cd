import type { Price } from '@influencer-stats/prices/core/price'
import { seededRandom, seededUuid } from '@influencer-stats/prices/core/random'
import { samplePrices } from '@influencer-stats/prices/core/sample'

/** A catalog that every process makes alike. In it a price's value is its row's number, so that any answer can be checked. */
export interface CatalogPlan {
  /** The sample catalog, or one of a uniform draw. */
  readonly kind: 'sample' | 'uniform'
  readonly offerings: number
}

/** The sample catalog: 487,200 prices of 5 characteristics. */
export const SAMPLE: CatalogPlan = { kind: 'sample', offerings: 50 }
/** 2 million prices of 20 characteristics with 10 values each. */
export const UNIFORM: CatalogPlan = { kind: 'uniform', offerings: 200 }

/** Offerings of sample catalogs that grow, from 10,000 prices to 2 million. */
export const GROWN = [1, 10, 50, 205]

const ROWS_AN_OFFERING = { sample: 9_744, uniform: 10_000 } as const
const CHARS = { sample: 5, uniform: 20 } as const
const VALUES = 10
const GROUPS = 5
const SPECS = ['MRC', 'NRC']
const SEED = 20_261_121

export const sizeOf = ({ kind, offerings }: CatalogPlan): number => offerings * ROWS_AN_OFFERING[kind]
export const charsOf = ({ kind }: CatalogPlan): number => CHARS[kind]

export const pricesOf = ({ kind, offerings }: CatalogPlan): Iterable<Price> =>
  kind === 'sample' ? samplePrices(offerings) : uniformPrices(offerings)

function* uniformPrices(offerings: number): Generator<Price> {
  const random = seededRandom(SEED)
  const names = Array.from({ length: CHARS.uniform }, (_, i) => `Characteristic ${i + 1}`)
  for (let offering = 0, row = 0; offering < offerings; offering++) {
    const offeringId = seededUuid(random)
    for (let i = 0; i < ROWS_AN_OFFERING.uniform; i++) {
      yield {
        id: seededUuid(random),
        offeringId,
        groupId: `group${1 + random(GROUPS)}`,
        priceSpecId: SPECS[random(SPECS.length)]!,
        charValues: names.map((char) => ({ char, value: `Value ${1 + random(VALUES)}` })),
        value: row++,
      }
    }
  }
}

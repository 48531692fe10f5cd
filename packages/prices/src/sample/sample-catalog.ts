import type { SimplePrice } from '../core/price.ts'
import { createSeededRandom, drawUuid } from './seeded-random.ts'

export const SAMPLE_OFFERINGS = 50
const SAMPLE_GROUPS = 5
const SEED = 20_261_120

/** A price whose values are texts. */
export interface SamplePrice extends SimplePrice {
  readonly charValues: readonly { readonly char: string; readonly value: string }[]
}

/** The names in the sample catalog. For each offering there is a row per combination of values; the last characteristic varies fastest. */
export interface SampleShape {
  readonly offerings: readonly string[]
  readonly chars: readonly (readonly [name: string, values: readonly string[]])[]
}

const toMbps = (...speeds: number[]) => speeds.map((speed) => `${speed} Mbps`)
const from250To950 = Array.from({ length: 15 }, (_, i) => 250 + 50 * i)

/**
 * Creates the random generator of the sample's ids and groups. For each price, the caller draws an id, then a group.
 */
export const createSampleRandom = () => createSeededRandom(SEED + 1)
export const drawGroup = (random: ReturnType<typeof createSeededRandom>) => `group${1 + random(SAMPLE_GROUPS)}`

/**
 * Returns the names in the sample catalog, which are the same in every run.
 * @param offerings number of offerings
 */
export function createSampleShape(offerings = SAMPLE_OFFERINGS): SampleShape {
  const random = createSeededRandom(SEED)
  const vpns = Array.from({ length: 4 }, () => drawUuid(random))
  return {
    chars: [
      ['Term', ['12', '18', '24', '36', '48', '60']],
      ['B2B Traffic', [1, 2, 5, 10, 20, 50, 100].map((size) => `${size} GB`)],
      ['VPN', vpns],
      ['B2B Bandwidth', [...toMbps(1, 5, 10, 20, 25, 30, 50, 75, 100, 125, 150, 175, 200, ...from250To950), '1Gbps']],
      ['Router', ['Included', 'Not Included']],
    ],
    offerings: Array.from({ length: offerings }, () => drawUuid(random)),
  }
}

/**
 * Generates the sample catalog: 9,744 prices per offering, 487,200 in all, the same in every run. The value of a price is
 * the number of its row.
 */
export function* generateSamplePrices(offerings = SAMPLE_OFFERINGS): Generator<SamplePrice> {
  const shape = createSampleShape(offerings)
  const random = createSampleRandom()
  const combinations = [...listCombinations(shape.chars)]
  let row = 0
  for (const offeringId of shape.offerings) {
    for (const charValues of combinations) yield drawPrice(random, offeringId, charValues, row++)
  }
}

/** Returns the first price of the sample catalog. */
export function getFirstPrice(): SamplePrice {
  const { offerings, chars } = createSampleShape(1)
  const charValues = chars.map(([char, [value]]) => ({ char, value: value! }))
  return drawPrice(createSampleRandom(), offerings[0]!, charValues, 0)
}

function drawPrice(
  random: ReturnType<typeof createSeededRandom>,
  offeringId: string,
  charValues: SamplePrice['charValues'],
  value: number,
): SamplePrice {
  return {
    id: drawUuid(random),
    offeringId,
    groupId: drawGroup(random),
    priceSpecId: charValues.at(-1)!.value === 'Included' ? 'MRC' : 'NRC',
    charValues,
    value,
  }
}

function* listCombinations(chars: SampleShape['chars']): Generator<SamplePrice['charValues'] & unknown[]> {
  const [first, ...rest] = chars
  if (!first) return yield []
  const [char, values] = first
  for (const value of values) for (const more of listCombinations(rest)) yield [{ char, value }, ...more]
}

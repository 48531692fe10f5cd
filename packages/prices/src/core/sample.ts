import type { Price } from './price.ts'
import { seededRandom, seededUuid } from './random.ts'

export const OFFERINGS = 50
const GROUPS = 5
const SEED = 20_261_120

/** The shape of the sample catalog, nested in this order, the last fastest. */
export interface SampleShape {
  readonly offerings: readonly string[]
  readonly chars: readonly (readonly [name: string, values: readonly string[]])[]
}

const mbps = (...speeds: number[]) => speeds.map((speed) => `${speed} Mbps`)
const from250To950 = Array.from({ length: 15 }, (_, i) => 250 + 50 * i)

/** What the ids and the groups of the sample's prices are drawn from, in this order, price by price. */
export const sampleRandom = () => seededRandom(SEED + 1)
export const drawGroup = (random: ReturnType<typeof seededRandom>) => `group${1 + random(GROUPS)}`

/** The names in the sample catalog; every run makes the same. @param offerings fewer of them, for tests */
export function sampleShape(offerings = OFFERINGS): SampleShape {
  const random = seededRandom(SEED)
  const vpns = Array.from({ length: 4 }, () => seededUuid(random))
  return {
    chars: [
      ['Term', ['12', '18', '24', '36', '48', '60']],
      ['B2B Traffic', [1, 2, 5, 10, 20, 50, 100].map((size) => `${size} GB`)],
      ['VPN', vpns],
      ['B2B Bandwidth', [...mbps(1, 5, 10, 20, 25, 30, 50, 75, 100, 125, 150, 175, 200, ...from250To950), '1Gbps']],
      ['Router', ['Included', 'Not Included']],
    ],
    offerings: Array.from({ length: offerings }, () => seededUuid(random)),
  }
}

/** The sample catalog: 9,744 prices an offering, 487,200 in all; the same in every run. Values are row numbers. */
export function* samplePrices(offerings = OFFERINGS): Generator<Price> {
  const shape = sampleShape(offerings)
  const random = sampleRandom()
  const everyCharValues = [...combinations(shape.chars)]
  let row = 0
  for (const offeringId of shape.offerings) {
    for (const charValues of everyCharValues) yield nextPrice(random, offeringId, charValues, row++)
  }
}

/** The first price of the sample catalog. */
export function firstPrice(): Price {
  const { offerings, chars } = sampleShape(1)
  const charValues = chars.map(([char, [value]]) => ({ char, value: value! }))
  return nextPrice(sampleRandom(), offerings[0]!, charValues, 0)
}

function nextPrice(
  random: ReturnType<typeof seededRandom>,
  offeringId: string,
  charValues: Price['charValues'],
  value: number,
): Price {
  return {
    id: seededUuid(random),
    offeringId,
    groupId: drawGroup(random),
    priceSpecId: charValues.at(-1)!.value === 'Included' ? 'MRC' : 'NRC',
    charValues,
    value,
  }
}

function* combinations(chars: SampleShape['chars']): Generator<Price['charValues'] & unknown[]> {
  const [first, ...rest] = chars
  if (!first) return yield []
  const [char, values] = first
  for (const value of values) for (const more of combinations(rest)) yield [{ char, value }, ...more]
}

import type { Price } from './price.ts'
import { seededRandom, seededUuid } from './random.ts'

const OFFERINGS = 50
const SEED = 20_261_120

/** The shape of the sample catalog, nested in this order, the last fastest. */
export interface SampleShape {
  readonly offerings: readonly string[]
  readonly chars: readonly (readonly [name: string, values: readonly string[]])[]
}

const mbps = (...speeds: number[]) => speeds.map((speed) => `${speed} Mbps`)
const from250To950 = Array.from({ length: 15 }, (_, i) => 250 + 50 * i)

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

/** How many prices the sample catalog has. */
export function sampleSize(): number {
  const { offerings, chars } = sampleShape()
  return chars.reduce((size, [, values]) => size * values.length, offerings.length)
}

/** The sample catalog: 9,744 prices an offering, 487,200 in all; the same in every run. Values are row numbers. */
export function* samplePrices(offerings = OFFERINGS): Generator<Price> {
  const shape = sampleShape(offerings)
  const random = seededRandom(SEED + 1)
  const everyCharValues = [...combinations(shape.chars)]
  let row = 0
  for (const offeringId of shape.offerings) {
    for (const charValues of everyCharValues) {
      const included = charValues.at(-1)!.value === 'Included'
      yield {
        id: seededUuid(random),
        offeringId,
        groupId: `group${1 + random(5)}`,
        priceSpecId: included ? 'MRC' : 'NRC',
        charValues,
        value: row++,
      }
    }
  }
}

function* combinations(chars: SampleShape['chars']): Generator<Price['charValues'] & unknown[]> {
  const [first, ...rest] = chars
  if (!first) return yield []
  const [char, values] = first
  for (const value of values) for (const more of combinations(rest)) yield [{ char, value }, ...more]
}

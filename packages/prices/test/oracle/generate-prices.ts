import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { JsonNumber, type Json, type JsonObject } from './json-text.ts'
import { valueToJson } from './model-price.ts'
import { parseFrom, parseTo } from './moments.ts'
import * as pools from './pools.ts'

/** Draws a decimal as a JSON number or as text. */
export const drawDecimal = (random: SeededRandom): Json => {
  const text = random.pick(pools.VALUES)
  return random.percent(30) ? text : new JsonNumber(text)
}

function drawCharValues(random: SeededRandom): Json[] {
  const share = random.pick([10, 40, 70])
  const chosen = pools.CHARS.filter(() => random.percent(share))
  return chosen.map((pool) => ({ char: pool.name, value: valueToJson(pools.drawCharValue(random, pool)) }))
}

function drawValidity(random: SeededRandom): JsonObject {
  const [from, to] = [random.pick(pools.MOMENTS), random.pick(pools.MOMENTS)]
  const dice = random.below(100)
  if (dice < 60) return {}
  if (dice < 75) return { from }
  return dice < 85 || parseFrom(from) >= parseTo(to) ? { to } : { from, to }
}

/** Draws a valid price without an id. */
export function drawPrice(random: SeededRandom): JsonObject {
  const optional = (name: string, share: number, draw: () => Json) => (random.percent(share) ? { [name]: draw() } : {})
  return {
    offeringId: random.pick(pools.OFFERINGS),
    groupId: random.pick(pools.GROUPS),
    priceSpecId: random.pick(pools.SPECS),
    charValues: drawCharValues(random),
    value: drawDecimal(random),
    ...optional('currency', 60, () => random.pick(pools.CURRENCIES)),
    ...optional('default', 25, () => random.percent(80)),
    ...drawValidity(random),
  }
}

const FAULTS: readonly ((price: JsonObject, random: SeededRandom) => Json)[] = [
  (price) => ({ ...price, value: undefined }),
  (price, random) => ({ ...price, [random.pick(['from', 'to'])]: random.pick(pools.NO_MOMENTS) }),
  (price) => ({ ...price, from: '2026-02-02', to: '2026-02-01' }),
  (price, random) => ({ ...price, from: random.pick(pools.MOMENTS), to: random.pick(pools.MOMENTS) }),
  (price) => ({ ...price, currency: 'eur' }),
  (price) => ({ ...price, offeringId: '' }),
  (price) => ({ ...price, groupId: 'g\0' }),
  (price) => ({ ...price, more: 1 as never }),
  (price) => ({ ...price, charValues: [...(price.charValues as Json[]), { char: 'term' }] }),
  (price) => ({
    ...price,
    charValues: [
      { char: 'x', value: '1' },
      { char: 'x', value: '1' },
    ],
  }),
  (price) => ({ ...price, charValues: [{ char: 'seats', value: new JsonNumber('1.5') }] }),
  (price) => ({ ...price, charValues: [{ char: 'seats', value: [new JsonNumber('1'), new JsonNumber('1')] }] }),
  (price) => ({
    ...price,
    charValues: [{ char: 'seats', value: { from: new JsonNumber('9'), to: new JsonNumber('1') } }],
  }),
  (price) => ({ ...price, charValues: [{ char: 'seats', value: {} }] }),
  (price) => [price],
]

/** Draws a price of which one value may have another type than its characteristic. */
function drawRetypedPrice(random: SeededRandom): JsonObject {
  const value = valueToJson(random.pick(pools.ALL_ITEMS))
  return { ...drawPrice(random), charValues: [{ char: random.pick(pools.CHARS).name, value }] }
}

const VALUE_FAULTS: typeof FAULTS = [
  (price, random) => ({ ...price, value: new JsonNumber(random.pick(pools.UNSTORABLE_VALUES)) }),
  (price, random) => ({ ...price, value: random.pick(['1,5', '', ' 1', '01', '.5', '1.', '+1', 'Infinity', '0x1']) }),
]
const ALL_FAULTS = [...FAULTS, ...VALUE_FAULTS]

/** Draws a price with one fault. */
export const drawFaultyPrice = (random: SeededRandom): Json => random.pick(ALL_FAULTS)(drawPrice(random), random)

/** Draws a price that may be refused. */
export const drawOddPrice = (random: SeededRandom): Json =>
  random.percent(50) ? drawRetypedPrice(random) : drawFaultyPrice(random)

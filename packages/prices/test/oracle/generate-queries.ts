import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import type { ModelCondition, ModelQuery } from './model-conditions.ts'
import type { ModelPrice, Prices } from './model-price.ts'
import { isRange, toItems, type Item } from './model-values.ts'
import * as pools from './pools.ts'

/** Returns a value that a condition can name: of a range, usually an end or a neighbour of it. */
function toWanted(random: SeededRandom, item: Item, isBound = false): Item {
  // The schema of a bound has no booleans.
  if (isBound && typeof item === 'boolean') return String(item)
  if (!isRange(item) || (!isBound && random.percent(20))) return item
  const { from, to } = item
  const ends = [from, to].filter((end) => end !== undefined)
  return random.pick(ends.flatMap((end) => [end, end, end - 1, end + 1]))
}

function drawWanted(random: SeededRandom, char: string, known?: Item, isBound = false): Item {
  const { items } = pools.CHARS.find(({ name }) => name === char) ?? random.pick(pools.CHARS)
  const other = random.pick(random.percent(98) ? items : pools.ALL_ITEMS)
  return toWanted(random, known !== undefined && random.percent(80) ? known : other, isBound)
}

const OPERATORS = ['equals', 'equals', 'equals', 'equals', 'not', 'in', 'notIn', 'between'] as const

function drawBounds(random: SeededRandom, char: string, known?: Item): Item[] {
  const bounds = [drawWanted(random, char, known, true), drawWanted(random, char, undefined, true)]
  if (random.percent(85)) bounds.sort((a, b) => (a < b ? -1 : 1))
  // A quantity may have no unit, and may be a number.
  return bounds.map((one) => {
    if (typeof one !== 'string' || random.percent(60)) return one
    const number = one.replace(/ \D+$/, '')
    return Number.isSafeInteger(Number(number)) && random.percent(50) ? Number(number) : number
  })
}

function drawCondition(random: SeededRandom, char: string, known?: Item): ModelCondition {
  const op = random.pick(OPERATORS)
  if (op === 'between') return { char, op, value: drawBounds(random, char, known) }
  if (op === 'equals' || op === 'not') return { char, op, value: drawWanted(random, char, known) }
  return { char, op, value: Array.from({ length: random.between(0, 4) }, () => drawWanted(random, char, known)) }
}

function drawConditions(random: SeededRandom, price: ModelPrice | undefined): ModelCondition[] {
  const share = random.pick([0, 30, 60, 100])
  const own = (price?.charValues ?? [])
    .filter(() => random.percent(share))
    .map(({ char, value }) => drawCondition(random, char, random.pick(toItems(value))))
  const other = random.percent(12)
    ? [drawCondition(random, random.percent(95) ? random.pick(pools.CHARS).name : 'no')]
    : []
  return [...own, ...other]
}

/** Draws a query. Usually an existing price matches it at least in part. */
export function drawQuery(random: SeededRandom, prices: Prices): ModelQuery {
  const price = prices.size > 0 && random.percent(95) ? random.pick([...prices.values()]) : undefined
  const name = (known: string | undefined, pool: readonly string[]) =>
    known !== undefined && random.percent(95) ? known : random.pick([...pool, 'no'])
  const optional = (field: string, share: number, draw: () => unknown) =>
    random.percent(share) ? { [field]: draw() } : {}
  const value = () => (price && random.percent(50) ? price.value : random.pick(pools.VALUES))
  return {
    offeringId: name(price?.offeringId, pools.OFFERINGS),
    groupId: name(price?.groupId, pools.GROUPS),
    priceSpecId: name(price?.priceSpecId, pools.SPECS),
    charValues: drawConditions(random, price),
    ...optional('at', 25, () => random.pick([...pools.MOMENTS, 'now'])),
    ...optional('currency', 20, () => random.pick(pools.CURRENCIES)),
    ...optional('minValue', 15, value),
    ...optional('maxValue', 15, value),
  }
}

/** Leaves out some of the names of a query. */
export function omitNames(random: SeededRandom, { offeringId, groupId, priceSpecId, ...rest }: ModelQuery): ModelQuery {
  const names = { offeringId, groupId, priceSpecId }
  return { ...Object.fromEntries(Object.entries(names).filter(() => random.percent(50))), ...rest }
}

import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { fromCells, listColumns, toCells } from './csv-text.ts'
import { drawFaultyPrice, drawOddPrice, drawPrice } from './generate-prices.ts'
import { drawQuery } from './generate-queries.ts'
import { isObject, type Json, type JsonObject } from './json-text.ts'
import type { ModelChange } from './model-changes.ts'
import { toJson, type Prices } from './model-price.ts'
import * as pools from './pools.ts'

const OPTIONAL_FIELDS = ['currency', 'default', 'from', 'to']

const withId = (random: SeededRandom, price: Json): Json =>
  isObject(price) ? { id: pools.drawId(random), ...price } : price

/** Draws the lines of an import, in some cases with a faulty one. */
function drawLines(random: SeededRandom, count: number): Json[] {
  const lines = Array.from({ length: count }, () => withId(random, drawPrice(random)))
  if (random.percent(20)) {
    lines.splice(random.below(count + 1), 0, withId(random, drawOddPrice(random)))
  }
  return lines
}

/** Draws the fields that a price changes: of another price, absent ones, or those of a faulty price. */
function drawPatch(random: SeededRandom): Json {
  const price = random.percent(8) ? drawFaultyPrice(random) : drawPrice(random)
  if (!isObject(price)) return price
  const chosen = Object.entries(price).filter(() => random.percent(35))
  const removed = OPTIONAL_FIELDS.filter(() => random.percent(15)).map((name) => [name, null])
  return Object.fromEntries([...chosen, ...removed])
}

/** Draws the id of a price, usually an existing one. */
const drawKnownId = (random: SeededRandom, prices: Prices): string =>
  prices.size > 0 && random.percent(85) ? random.pick([...prices.keys()]) : pools.drawId(random)

function drawPut(random: SeededRandom, prices: Prices): ModelChange {
  const id = random.below(60) === 0 ? random.pick(pools.BAD_IDS) : pools.drawId(random)
  const old = prices.get(id)
  // In some cases only one field changes.
  const price = random.percent(85) ? drawPrice(random) : drawOddPrice(random)
  const [name] = isObject(price) ? Object.keys(price).filter(() => random.percent(30)) : []
  const body = old && name && random.percent(40) ? { ...toJson(old), [name]: (price as any)[name] } : price
  const ownId = random.percent(20) ? { id: random.percent(90) ? id : pools.drawId(random) } : {}
  return { type: 'put', id, body: isObject(body) ? { ...body, ...ownId } : body }
}

function drawRemoval(random: SeededRandom, prices: Prices): ModelChange {
  const query = drawQuery(random, prices)
  const expected = random.percent(20) ? { expected: random.below(4) } : {}
  return { type: 'remove-where', query, dryRun: random.percent(40), ...expected }
}

/** Draws the lines of an import as CSV. */
function drawCsv(random: SeededRandom, count: number): Pick<ModelChange & { type: 'import' }, 'lines' | 'csv'> {
  const prices = Array.from({ length: count }, () => withId(random, drawPrice(random)) as JsonObject)
  const columns = random.shuffle(listColumns(prices))
  const toCell = (cell: string) =>
    /[",\r\n]/.test(cell) || random.percent(5) ? `"${cell.replaceAll('"', '""')}"` : cell
  const lines = [columns, ...prices.map((price) => toCells(price, columns))]
  const csv = lines.map((cells) => cells.map(toCell).join()).join(random.pick(['\n', '\r\n']))
  return { lines: lines.slice(1).map((cells) => fromCells(cells, columns)), csv }
}

/** Draws an import of a catalog. */
export function drawImport(random: SeededRandom, replace: boolean): ModelChange {
  const count = replace ? random.between(30, 150) : random.between(0, 40)
  const isCsv = random.percent(25)
  const lines = isCsv ? drawCsv(random, count) : { lines: drawLines(random, count) }
  return { type: 'import', ...lines, replace, empty: random.percent(50) }
}

/** Draws a change of a catalog. */
export function drawChange(random: SeededRandom, prices: Prices): ModelChange {
  const dice = random.below(100)
  if (dice < 5) return drawImport(random, random.percent(30))
  if (dice < 20) return { type: 'delete', id: drawKnownId(random, prices) }
  if (dice < 24) return drawRemoval(random, prices)
  if (dice < 45) return { type: 'patch', id: drawKnownId(random, prices), body: drawPatch(random) }
  return drawPut(random, prices)
}

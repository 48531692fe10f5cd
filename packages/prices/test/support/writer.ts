import { randomInt } from 'node:crypto'
import {
  createUnitWriter,
  unitOf,
  type Contents,
  type Unit,
  type UnitWriter,
} from '@influencer-stats/runtime/testing/units'
import type { Price, PricesClient } from '../../src/client.ts'
import { uuid } from './prices.ts'

/** Changes prices that nobody else changes, by id; what they cost is the number of the change. */
export interface Writer extends UnitWriter<PricesClient, number> {
  /** The prices it may have made; what they cost is not of use. */
  readonly prices: readonly Price[]
}

const SINGLES = 6
/** Few enough to be put one by one, and enough to make a new generation of the catalog. */
const IMPORTS = [40, 2_100]

let lastId = 1_000_000
let lastValue = 0

/** Each price is found by its own characteristic. */
const priceOf = (offeringId: string, id: string, value = 0): Price => ({
  id,
  offeringId,
  groupId: 'g',
  priceSpecId: 's',
  charValues: [{ char: 'Id', value: id }],
  value,
})

function createWriterOf(
  units: readonly Unit<number>[],
  offeringId: string,
  next: (unit: Unit<number>) => Contents<number>,
  change: (client: PricesClient, contents: Contents<number>) => Promise<unknown>,
): Writer {
  const prices = units.flatMap(({ keys }) => keys.map((id) => priceOf(offeringId, id)))
  return { prices, ...createUnitWriter(units, next, change) }
}

const newUnit = (size: number) => unitOf<number>(Array.from({ length: size }, () => uuid(++lastId)))

/** Puts and deletes single prices. */
export function createWriter(name: string): Writer {
  const units = Array.from({ length: SINGLES }, () => newUnit(1))
  return createWriterOf(
    units,
    name,
    ({ keys }) => new Map(keys.map((id) => [id, randomInt(4) === 0 ? undefined : ++lastValue])),
    async (client, contents) => {
      for (const [id, value] of contents) {
        if (value === undefined) await client.delete(id)
        else await client.put(priceOf(name, id, value))
      }
    },
  )
}

/** Imports some prices and many, again and again. */
export function createImporter(name: string): Writer {
  return createWriterOf(
    IMPORTS.map(newUnit),
    name,
    ({ keys }) => {
      const value = ++lastValue
      return new Map(keys.map((id) => [id, value]))
    },
    async (client, contents) => {
      const lines = Array.from(contents, ([id, value]) => JSON.stringify(priceOf(name, id, value)))
      async function* bytes() {
        yield Buffer.from(lines.join('\n'))
      }
      await client.import(bytes())
    },
  )
}

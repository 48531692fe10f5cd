import { randomInt } from 'node:crypto'
import type { Price, PricesClient } from '../../src/client.ts'
import { uuid } from './prices.ts'

/** What prices cost after a change: nothing where there is none. */
type Contents = ReadonlyMap<string, number | undefined>

/** Prices that are always changed all at once. */
interface Unit {
  readonly ids: readonly string[]
  /** What the last change that was acknowledged left there. */
  acknowledged: Contents
  /** What a change without an answer leaves there, if it happened. */
  attempted?: Contents
}

/** Changes prices that nobody else changes, one change after the other. */
export interface Writer {
  /** The prices it may have made; what they cost is not of use. */
  readonly prices: readonly Price[]
  /** Changes prices until the service is gone. */
  run(client: PricesClient, onAcknowledged: () => void): Promise<void>
  /**
   * What is wrong after a crash: every unit must be what was acknowledged or what was being changed, whole. What is found
   * counts as acknowledged from then on.
   */
  check(found: Contents): string[]
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
  units: readonly Unit[],
  offeringId: string,
  next: (unit: Unit) => Contents,
  change: (client: PricesClient, contents: Contents) => Promise<unknown>,
): Writer {
  return {
    prices: units.flatMap(({ ids }) => ids.map((id) => priceOf(offeringId, id))),
    async run(client, onAcknowledged) {
      for (;;) {
        const one = units[randomInt(units.length)]!
        one.attempted = next(one)
        try {
          await change(client, one.attempted)
        } catch {
          return
        }
        one.acknowledged = one.attempted
        one.attempted = undefined
        onAcknowledged()
      }
    },
    check(found) {
      return units.flatMap((one) => {
        const holds = (contents: Contents | undefined) =>
          contents !== undefined && one.ids.every((id) => found.get(id) === contents.get(id))
        const seen = [one.acknowledged, one.attempted].find(holds)
        one.attempted = undefined
        if (seen) {
          one.acknowledged = seen
          return []
        }
        const shown = one.ids.slice(0, 5).map((id) => `${id}: ${found.get(id)} not ${one.acknowledged.get(id)}`)
        return [shown.join(', ')]
      })
    },
  }
}

const unitOf = (size: number): Unit => {
  const ids = Array.from({ length: size }, () => uuid(++lastId))
  return { ids, acknowledged: new Map(ids.map((id) => [id, undefined])) }
}

/** Puts and deletes single prices. */
export function createWriter(name: string): Writer {
  const units = Array.from({ length: SINGLES }, () => unitOf(1))
  return createWriterOf(
    units,
    name,
    ({ ids }) => new Map(ids.map((id) => [id, randomInt(4) === 0 ? undefined : ++lastValue])),
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
    IMPORTS.map(unitOf),
    name,
    ({ ids }) => {
      const value = ++lastValue
      return new Map(ids.map((id) => [id, value]))
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

import { randomInt } from 'node:crypto'

/** What keys hold after a change: a value a key, nothing where there is none. */
export type Contents<V> = ReadonlyMap<string, V | undefined>

/** Keys that one writer alone changes, always all of them at once. */
export interface Unit<V> {
  readonly keys: readonly string[]
  /** What the last change that was acknowledged left there. */
  acknowledged: Contents<V>
  /** What a change without an answer leaves there, if it happened. */
  attempted?: Contents<V>
}

export const unitOf = <V>(keys: readonly string[]): Unit<V> => ({
  keys,
  acknowledged: new Map(keys.map((key) => [key, undefined])),
})

/** Changes units that nobody else changes, one change after the other, and tells after a crash whether any was lost. */
export interface UnitWriter<Client, V> {
  /** Changes units until the service is gone. */
  run(client: Client, onAcknowledged: () => void): Promise<void>
  /**
   * What is wrong after a crash: every unit must be what was acknowledged or what was being changed, whole. What is found
   * counts as acknowledged from then on.
   */
  check(found: Contents<V>): string[]
}

const MOST_SHOWN = 5
const shown = (value: unknown) => String(value).slice(0, 40)

/** @param next what a unit is to hold next; @param change makes it so, and fails where it is not acknowledged */
export function createUnitWriter<Client, V>(
  units: readonly Unit<V>[],
  next: (unit: Unit<V>) => Contents<V>,
  change: (client: Client, contents: Contents<V>) => Promise<unknown>,
): UnitWriter<Client, V> {
  return {
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
        const holds = (contents: Contents<V> | undefined) =>
          contents !== undefined && one.keys.every((key) => found.get(key) === contents.get(key))
        const seen = [one.acknowledged, one.attempted].find(holds)
        one.attempted = undefined
        if (seen) {
          one.acknowledged = seen
          return []
        }
        const wrong = one.keys
          .slice(0, MOST_SHOWN)
          .map((key) => `${key}: ${shown(found.get(key))} not ${shown(one.acknowledged.get(key))}`)
        return [wrong.join(', ')]
      })
    },
  }
}

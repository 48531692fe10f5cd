import { randomInt } from 'node:crypto'
import type { KvChange, KvClient } from '../../src/client.ts'

/** What a writer's keys hold after one of its writes: a value a key, nothing where there is none. */
type Contents = ReadonlyMap<string, string | undefined>

/** Keys that one writer alone writes, always all of them at once. */
interface Unit {
  readonly keys: readonly string[]
  /** What the last write that was acknowledged left there. */
  acknowledged: Contents
  /** What a write without an answer leaves there, if it happened. */
  attempted?: Contents
}

const LARGEST = 2_000
const SINGLES = 6
const BATCH = 4

/** Writes its own keys, one write after the other: single keys with put and delete, others in atomic batches. */
export interface Writer {
  /** Writes until the service is gone. */
  run(client: KvClient, onAcknowledged: () => void): Promise<void>
  /**
   * What is wrong with what its keys hold after a crash: every unit must be what was acknowledged or what was being
   * written, whole. What is found counts as acknowledged from then on.
   */
  check(found: ReadonlyMap<string, string>): string[]
}

export function createWriter(name: string, durable: boolean): Writer {
  const unit = (keys: string[]): Unit => ({ keys, acknowledged: new Map(keys.map((key) => [key, undefined])) })
  const units = [
    ...Array.from({ length: SINGLES }, (_, i) => unit([`${name}/single/${i}`])),
    unit(Array.from({ length: BATCH }, (_, i) => `${name}/batch/${i}`)),
    unit(Array.from({ length: BATCH }, (_, i) => `${name}/other/${i}`)),
  ]
  let count = 0

  /** No two writes leave the same, so that a found value tells its write. At least one key of a batch gets a value. */
  function next({ keys }: Unit): Contents {
    const id = ++count
    const kept = keys.length === 1 ? randomInt(-1, 4) : randomInt(keys.length)
    const contents = keys.map((key, i) => {
      const stays = keys.length === 1 ? kept >= 0 : i === kept || randomInt(3) > 0
      return [key, stays ? `${id}:${key}:${'x'.repeat(randomInt(LARGEST))}` : undefined] as const
    })
    return new Map(contents)
  }

  async function write(client: KvClient, contents: Contents): Promise<void> {
    const changes = Array.from(contents, ([id, value]): KvChange => {
      return value === undefined ? { op: 'delete', id } : { op: 'put', id, value }
    })
    const [first, ...more] = changes
    if (more.length > 0) await client.batch(changes, { durable })
    else if (first!.op === 'put') await client.put(first!.id, first!.value, { durable })
    else await client.delete(first!.id, { durable })
  }

  return {
    async run(client, onAcknowledged) {
      for (;;) {
        const one = units[randomInt(units.length)]!
        one.attempted = next(one)
        try {
          await write(client, one.attempted)
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
          contents !== undefined && one.keys.every((key) => found.get(key) === contents.get(key))
        const seen = [one.acknowledged, one.attempted].find(holds)
        one.attempted = undefined
        if (seen) {
          one.acknowledged = seen
          return []
        }
        const shown = one.keys.map(
          (key) => `${key}=${found.get(key)?.slice(0, 40)} not ${one.acknowledged.get(key)?.slice(0, 40)}`,
        )
        return [shown.join(', ')]
      })
    },
  }
}

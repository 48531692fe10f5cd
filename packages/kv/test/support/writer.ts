import { randomInt } from 'node:crypto'
import {
  createUnitWriter,
  unitOf,
  type Contents,
  type Unit,
  type UnitWriter,
} from '@influencer-stats/runtime/testing/units'
import type { KvChange, KvClient } from '../../src/client.ts'

const LARGEST = 2_000
const SINGLES = 6
const BATCH = 4

/** Writes its own keys, one write after the other: single keys with put and delete, others in atomic batches. @param onTag told of the tag of each put */
export function createWriter(
  name: string,
  durable: boolean,
  onTag: (etag: string) => void,
): UnitWriter<KvClient, string> {
  const units = [
    ...Array.from({ length: SINGLES }, (_, i) => unitOf<string>([`${name}/single/${i}`])),
    unitOf<string>(Array.from({ length: BATCH }, (_, i) => `${name}/batch/${i}`)),
    unitOf<string>(Array.from({ length: BATCH }, (_, i) => `${name}/other/${i}`)),
  ]
  let count = 0

  /** No two writes leave the same, so that a found value tells its write. At least one key of a batch gets a value. */
  function next({ keys }: Unit<string>): Contents<string> {
    const id = ++count
    const kept = keys.length === 1 ? randomInt(-1, 4) : randomInt(keys.length)
    const contents = keys.map((key, i) => {
      const stays = keys.length === 1 ? kept >= 0 : i === kept || randomInt(3) > 0
      return [key, stays ? `${id}:${key}:${'x'.repeat(randomInt(LARGEST))}` : undefined] as const
    })
    return new Map(contents)
  }

  async function write(client: KvClient, contents: Contents<string>): Promise<void> {
    const changes = Array.from(contents, ([id, value]): KvChange => {
      return value === undefined ? { op: 'delete', id } : { op: 'put', id, value }
    })
    const [first, ...more] = changes
    if (more.length > 0) await client.batch(changes, { durable })
    else if (first!.op === 'put') onTag(await client.put(first!.id, first!.value, { durable }))
    else await client.delete(first!.id, { durable })
  }

  return createUnitWriter(units, next, write)
}

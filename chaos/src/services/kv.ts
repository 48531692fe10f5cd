import { createKvClient, type KvChange } from '@influencer-stats/kv/client'
import { getSeconds } from '../write-ledger.ts'
import type { TestedService } from './tested-service.ts'

const SINGLES = 6
const BATCH = 4
/** Sorts after all other keys. */
const AFTER_CRASH = 'after a crash'

/** The key-value service. @param options.size maximum value size (bytes): large values fill and rotate LevelDB's log */
export const createKvService = ({ size = 2_000, writers = 16 } = {}): TestedService => {
  /** Time of each tag (seconds). */
  const tags = new Map<string, number>()
  let twice: string | undefined

  return {
    service: 'kv',
    settings: {},
    writers,
    deletes: true,
    units: (writer) => [
      ...Array.from({ length: SINGLES }, (_, i) => ({ keys: [`${writer}/single/${i}`] })),
      { keys: Array.from({ length: BATCH }, (_, i) => `${writer}/batch/${i}`) },
    ],
    connect(url) {
      const client = createKvClient(url)
      return {
        async write(contents, durable) {
          const changes = Array.from(contents, ([id, value]): KvChange =>
            value === undefined
              ? { op: 'delete', id }
              : { op: 'put', id, value: `${value}:`.padEnd((value * 7_919) % size, 'x') },
          )
          const [first, ...more] = changes
          if (more.length > 0) await client.batch(changes, { durable })
          else if (first!.op === 'put') {
            const tag = await client.put(first!.id, first!.value, { durable })
            if (tags.has(tag)) twice = tag
            tags.set(tag, getSeconds())
          } else await client.delete(first!.id, { durable })
        },
        async read(at = -Infinity) {
          const found = new Map<string, number>()
          for await (const { id, value } of client.entries({ end: AFTER_CRASH }))
            found.set(id, Number.parseInt(value.toString('latin1', 0, 16), 10))
          // Reads by key, too: a read of one value uses another path than a range.
          for (const [id, value] of [...found].filter((_, i) => i % 10 === 0)) {
            const one = await client.get(id)
            if (Number.parseInt(String(one?.value), 10) !== value)
              throw new Error(`${id} differs between GET and a range`)
          }
          const next = await client.put(AFTER_CRASH, '')
          if (twice ?? tags.get(next)! <= at) throw new Error(`the tag ${twice ?? next} was used twice`)
          // After a crash other tags may follow that do not know this one: one recording has power cuts at many
          // moments.
          if (at === -Infinity) tags.set(next, getSeconds())
          return found
        },
        close: () => client.close(),
      }
    },
  }
}

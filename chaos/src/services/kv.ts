import { createKvClient, type KvChange } from '@influencer-stats/kv/client'
import { getSeconds } from '../write-ledger.ts'
import type { TestedService } from './tested-service.ts'

/** Per writer: the number of units with one key, and the number of keys in its unit with several keys. */
const SINGLES = 6
const BATCH = 4
/** Key that is written after a crash. It sorts after all other keys. */
const AFTER_CRASH = 'after a crash'

/**
 * The service kv. Values begin with the number of the write.
 * @param options.size maximum value size (bytes): large values fill and rotate LevelDB's log
 */
export const createKvService = ({ size = 2_000, writers = 16 } = {}): TestedService => {
  /** Time at which each ETag was received (s). */
  const tags = new Map<string, number>()
  let reusedTag: string | undefined

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
            if (tags.has(tag)) reusedTag = tag
            tags.set(tag, getSeconds())
          } else await client.delete(first!.id, { durable })
        },
        async read(at = -Infinity) {
          const found = new Map<string, number>()
          for await (const { id, value } of client.entries({ end: AFTER_CRASH }))
            found.set(id, Number.parseInt(value.toString('latin1', 0, 16), 10))
          // Reads some values also by key, because that is another code path than a range.
          for (const [id, value] of [...found].filter((_, i) => i % 10 === 0)) {
            const one = await client.get(id)
            if (Number.parseInt(String(one?.value), 10) !== value)
              throw new Error(`GET and a range return different values for ${id}`)
          }
          const next = await client.put(AFTER_CRASH, '')
          if (reusedTag ?? tags.get(next)! <= at) throw new Error(`the tag ${reusedTag ?? next} was used twice`)
          // A tag that was assigned on a crash image is not recorded. Each power cut of a recording has its own crash
          // image, and may assign the same tag.
          if (at === -Infinity) tags.set(next, getSeconds())
          return found
        },
        close: () => client.close(),
      }
    },
  }
}

import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createKvClient, type KvClient } from '../src/client.ts'
import { spawnKv } from './support/process.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { createWriter } from './support/writer.ts'

// `pnpm test:crash` kills it more often.
const KILLS = Number(process.env.CRASH_KILLS ?? 5)
const WRITERS = 32
const MOST_WRITES = 1_500
const MOST_DELAY = 5

async function everything(client: KvClient): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for await (const { id, value } of client.entries()) found.set(id, value.toString())
  return found
}

it.each([false, true])(
  `loses nothing it acknowledged, killed ${KILLS} times under ${WRITERS} writers, durable: %s`,
  async (durable) => {
    const data = temporaryFolder()
    /** The tags of all puts. */
    const given: string[] = []
    const writers = Array.from({ length: WRITERS }, (_, i) =>
      createWriter(String(i), durable, (tag) => given.push(tag)),
    )
    for (let kill = 0; ; kill++) {
      const service = spawnKv(data)
      const client = createKvClient(await service.url)
      const found = await everything(client)
      expect(writers.flatMap((writer) => writer.check(found))).toEqual([])
      // By key, too: a read of one value takes another way than a range.
      const keys = [...found.keys()].filter(() => randomInt(10) === 0)
      const values = await Promise.all(keys.map((key) => client.get(key)))
      expect(values.map((one) => one?.value.toString())).toEqual(keys.map((key) => found.get(key)))

      if (kill === KILLS) {
        await client.close()
        expect(new Set(given).size).toBe(given.length)
        expect((await service.stop()).code).toBe(0)
        return
      }
      const enough = Promise.withResolvers<void>()
      let left = randomInt(1, MOST_WRITES)
      const writing = writers.map((writer) => writer.run(client, () => --left === 0 && enough.resolve()))
      await enough.promise
      // Any moment, and the very one at which an answer has come.
      if (kill % 2 === 0) await delay(randomInt(MOST_DELAY))
      await service.crash()
      await Promise.all(writing)
      await client.close()
    }
  },
  60_000 + KILLS * 5_000,
)

import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createPricesClient, type Price } from '../src/client.ts'
import { searchOf } from './support/prices.ts'
import { spawnPrices } from './support/process.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { createImporter, createWriter } from './support/writer.ts'

// `pnpm test:crash` kills it more often.
const KILLS = Number(process.env.CRASH_KILLS ?? 5)
const WRITERS = 16
const MOST_CHANGES = 300
const MOST_DELAY = 60

/** What the prices cost, found by search. */
async function searchAll(url: string, prices: readonly Price[]): Promise<Map<string, number | undefined>> {
  const reply = await fetch(`${url}/v5/search/bitmap/bulk/prices`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: prices.map((price) => JSON.stringify({ id: price.id, ...searchOf(price) })).join('\n'),
  })
  const answers = (await reply.text()).trim().split('\n')
  return new Map(
    answers.map((line) => {
      const { id, price, error } = JSON.parse(line)
      if (!price && !error.code.endsWith('_NOT_FOUND')) throw new Error(line)
      return [id, price?.value]
    }),
  )
}

it(
  `loses no change it acknowledged and keeps no half of one, killed ${KILLS} times`,
  async () => {
    const data = temporaryFolder()
    const writers = [
      ...Array.from({ length: WRITERS }, (_, i) => createWriter(`writer ${i}`)),
      createImporter('importer'),
    ]
    const prices = writers.flatMap((writer) => writer.prices)
    for (let kill = 0; ; kill++) {
      const service = spawnPrices(data)
      const url = await service.url
      const client = createPricesClient(url)
      const found = await searchAll(url, prices)
      expect(found.size).toBe(prices.length)
      expect(writers.flatMap((writer) => writer.check(found))).toEqual([])
      // By id, too: that takes another way than a search.
      for (const { id } of prices.filter(() => randomInt(20) === 0))
        expect({ id, value: (await client.get(id))?.value }).toEqual({ id, value: found.get(id) })

      if (kill === KILLS) {
        expect(await service.stop()).toBe(0)
        return
      }
      const enough = Promise.withResolvers<void>()
      let left = randomInt(1, MOST_CHANGES)
      const writing = writers.map((writer) => writer.run(client, () => --left === 0 && enough.resolve()))
      await enough.promise
      // Any moment, and the very one at which an answer has come.
      if (kill % 2 === 0) await delay(randomInt(MOST_DELAY))
      await service.crash()
      await Promise.all(writing)
    }
  },
  60_000 + KILLS * 5_000,
)

import { readFile } from 'node:fs/promises'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { createPrice, toUuid } from './support/prices.ts'
import { spawnPrices, type SpawnedPrices } from './support/spawn-prices.ts'
import { toLines } from './support/standalone.ts'

/** Unused names are kept until they are many, so the memory of fewer imports depends on when they were freed last. */
const IMPORTS = 180
const LINES = 1_000
/** Two services with the same work differ by up to an eighth. If names are never freed, the ratio is 2.6. */
const MAX_RATIO = 1.3

/** Returns the memory of a service (MB). */
async function readRss({ pid }: SpawnedPrices): Promise<number> {
  const status = await readFile(`/proc/${await pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1_024
}

/** Replaces the same prices again and again, and returns the memory before and after a restart. */
async function measure(toName: (n: number) => number): Promise<[number, number]> {
  const folder = createTemporaryFolder()
  const service = spawnPrices(folder)
  const url = await service.url
  for (let i = 0; i < IMPORTS; i++) {
    const prices = Array.from({ length: LINES }, (_, line) => {
      const name = String(toName(i * LINES + line)).padStart(40, 'n')
      return createPrice({ id: toUuid(line), offeringId: name, charValues: [{ char: 'c', value: name }], value: i })
    })
    const headers = { 'content-type': 'application/x-ndjson' }
    const reply = await fetch(`${url}/prices/import`, { method: 'POST', body: toLines(prices), headers })
    expect(await reply.json()).toEqual({ imported: LINES, prices: LINES })
  }
  const before = await readRss(service)
  await service.stop()
  const restarted = spawnPrices(folder)
  await restarted.url
  const after = await readRss(restarted)
  await restarted.stop()
  return [before, after]
}

it.runIf(process.platform === 'linux')(
  'the memory of a service does not grow with names that prices no longer have',
  async () => {
    const few = await measure((n) => n % (2 * LINES))
    const many = await measure((n) => n)
    const ratios = many.map((rss, i) => rss / few[i]!)
    expect(Math.max(...ratios), `RSS: ${few} MB with names that return, ${many} MB with new ones`).toBeLessThan(
      MAX_RATIO,
    )
  },
  300_000,
)

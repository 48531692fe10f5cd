import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { inOwnProcess } from '../load/common/own-process.ts'
import { randomOf } from '../load/requests/drawers.ts'
import { temporaryFolder } from '../temporary.ts'
import { SAMPLE, type CatalogPlan } from './catalogs.ts'
import { importHere } from './import.ts'
import { KnownCatalog } from './known-catalog.ts'
import { searchPath, type IndexName } from './searches.ts'

/** One search after the other over HTTP, client and server in one thread: as the source's HTTPClientServer. */
export interface RoundTripsPlan {
  readonly index: IndexName
  readonly catalog: CatalogPlan
  /** Seconds that are timed, and as many before. */
  readonly duration: number
}

/** Seconds: the service starts before. */
const LIMIT = 120

const { Agent, request } = process.getBuiltinModule('node:http')

/** This process serves, too. */
export async function roundTripsHere({ index, catalog, duration }: RoundTripsPlan): Promise<number> {
  using data = temporaryFolder()
  const isSample = catalog.kind === SAMPLE.kind && catalog.offerings === SAMPLE.offerings
  const running = await embed(prices, { data: data.path, indexes: index, sample: isSample ? 'yes' : 'no' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    if (!isSample) await importHere({ url: running.url, catalog })
    const known = new KnownCatalog(catalog)
    const random = randomOf(1)
    const url = new URL(searchPath(index), running.url)

    async function search(): Promise<void> {
      const row = Math.floor(random() * known.size)
      const body = known.bodyOf(row)
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const sent = request(url, { agent, method: 'POST', headers }).end(body)
      const [reply] = (await once(sent, 'response')) as [IncomingMessage]
      let text = ''
      for await (const chunk of reply) text += chunk
      if (JSON.parse(text).value !== row) throw new Error(`row ${row} was answered ${text}`)
    }

    async function time(): Promise<number> {
      const began = performance.now()
      let [done, now] = [0, began]
      for (; now - began < duration * 1000; now = performance.now(), done++) await search()
      return ((now - began) / done) * 1e6
    }

    await time()
    return await time()
  } finally {
    agent.destroy()
    await running.stop()
  }
}

/** @returns nanoseconds from a request's text to its parsed answer. @throws Error when an answer was wrong */
export const runRoundTrips = inOwnProcess(import.meta.url, roundTripsHere, LIMIT)

import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInOwnProcess } from '../load/common/own-process.ts'
import { randomOf } from '../load/requests/drawers.ts'
import { SAMPLE, type CatalogPlan } from './catalogs.ts'
import { runImportHere } from './import.ts'
import { KnownCatalog } from './known-catalog.ts'
import { searchPath, type IndexName } from './searches.ts'

/** One search after the other over HTTP, client and server in one thread: as the source's HTTPClientServer. */
export interface RoundTripsPlan {
  readonly index: IndexName
  readonly catalog: CatalogPlan
  /** Seconds that are timed, and as many before. */
  readonly duration: number
  readonly pin?: readonly number[]
}

const LIMIT = 120_000

/** @returns nanoseconds from a request's text to its parsed answer. @throws Error when an answer was wrong */
export const runRoundTrips = (plan: RoundTripsPlan): Promise<number> =>
  runInOwnProcess(import.meta.url, 'runRoundTripsHere', plan, LIMIT)

const { Agent, request } = process.getBuiltinModule('node:http')

/** Runs inside this process, which serves, too. */
export async function runRoundTripsHere(plan: RoundTripsPlan): Promise<number> {
  const { index, catalog, duration } = plan
  const data = mkdtempSync(join(tmpdir(), 'influencer-stats-bench-'))
  const isSample = catalog.kind === SAMPLE.kind && catalog.offerings === SAMPLE.offerings
  const running = await embed(prices, { data, indexes: index, sample: isSample ? 'yes' : 'no' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    if (!isSample) await runImportHere({ url: running.url, catalog })
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
    rmSync(data, { recursive: true, force: true })
  }
}

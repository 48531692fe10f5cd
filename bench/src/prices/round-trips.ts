import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createProcessRunner } from '../load/common/process-runner.ts'
import { createRandom } from '../load/requests/drawers.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { SAMPLE, type CatalogPlan } from '../load/requests/catalogs.ts'
import { importCatalog } from './catalog-import.ts'
import { ExpectedCatalog } from '../load/requests/expected-catalog.ts'
import { getSearchPath, type IndexName } from '../load/requests/searches.ts'

/** Sequential searches over HTTP, client and server in one thread, as in `HTTPClientServer` of the source. */
export interface RoundTripsPlan {
  readonly index: IndexName
  readonly catalog: CatalogPlan
  /** Measured seconds, and the seconds of the warm-up. */
  readonly duration: number
}

/** Maximum duration of a run (s), with the start of the service. */
const MAX_RUN_S = 120

const { Agent, request } = process.getBuiltinModule('node:http')

/** Measures searches. The server runs in this process. @returns nanoseconds per search */
export async function measureRoundTrips({ index, catalog, duration }: RoundTripsPlan): Promise<number> {
  using data = createTemporaryFolder()
  const isSample = catalog.kind === SAMPLE.kind && catalog.offerings === SAMPLE.offerings
  const running = await embed(prices, { data: data.path, indexes: index, sample: isSample ? 'yes' : 'no' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    if (!isSample) await importCatalog({ url: running.url, catalog })
    const expectedCatalog = new ExpectedCatalog(catalog)
    const random = createRandom(1)
    const url = new URL(getSearchPath(index), running.url)

    async function search(): Promise<void> {
      const row = Math.floor(random() * expectedCatalog.size)
      const body = expectedCatalog.buildBody(row)
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const sent = request(url, { agent, method: 'POST', headers }).end(body)
      const [reply] = (await once(sent, 'response')) as [IncomingMessage]
      let text = ''
      for await (const chunk of reply) text += chunk
      if (JSON.parse(text).value !== row) throw new Error(`the reply for row ${row} is ${text}`)
    }

    async function measureTime(): Promise<number> {
      const began = performance.now()
      let [done, now] = [0, began]
      for (; now - began < duration * 1000; now = performance.now(), done++) await search()
      return ((now - began) / done) * 1e6
    }

    await measureTime()
    return await measureTime()
  } finally {
    agent.destroy()
    await running.stop()
  }
}

/**
 * Measures searches in a new process.
 * @returns nanoseconds from a request to its parsed answer.
 * @throws Error if one is wrong
 */
export const runRoundTrips = createProcessRunner(import.meta.url, measureRoundTrips, MAX_RUN_S)

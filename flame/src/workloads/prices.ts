import type { Running } from '@influencer-stats/bench/contenders/contender'
import { runBulk } from '@influencer-stats/bench/prices/bulk'
import { SAMPLE } from '@influencer-stats/bench/prices/catalogs'
import { searchPath, INDEXES, type IndexName } from '@influencer-stats/bench/prices/searches'
import { PINS } from '@influencer-stats/bench/processes'
import { proveSearches } from '@influencer-stats/bench/scenarios/prices'
import { MARGIN, underLoad, WARM_UP, workDuring } from '../load.ts'
import type { Workload } from '../workloads.ts'

const CONNECTIONS = 20
const ITEMS = 3_000

/** The index that a service has: every variant builds one. @throws Error when it has none of them */
async function indexOf({ url }: Running): Promise<IndexName> {
  for (const index of INDEXES) {
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(url + searchPath(index), { method: 'POST', headers, body: '{}' })
    const { code } = (await reply.json()) as { code?: string }
    if (code !== 'INDEX_NOT_LOADED') return index
  }
  throw new Error('the service has none of the indexes')
}

const prove = async (running: Running) => proveSearches(await indexOf(running))(running)

/** Searches for random rows of the sample catalog, one a request. */
export const single: Workload = {
  says: `under ${CONNECTIONS} connections that search for random prices of the sample catalog`,
  prepare: prove,
  async during(running, seconds, work) {
    const requests = { drawer: `prices-${await indexOf(running)}` }
    return underLoad(running.url, { requests, expect: { status: 200 }, connections: CONNECTIONS }, seconds, work)
  },
}

/** The same, 3,000 a request. */
export const bulk: Workload = {
  says: 'under one connection that asks for 3,000 random prices a request',
  prepare: prove,
  async during(running, seconds, work) {
    const plan = { index: await indexOf(running), catalog: SAMPLE, items: ITEMS, pid: running.pid, url: running.url }
    const asking = runBulk({ ...plan, connections: 1, warmUp: WARM_UP, duration: seconds + MARGIN, pin: PINS.client })
    const [done, { requests }] = await workDuring(asking, work)
    if (requests === 0) throw new Error('no request was answered')
    return done
  },
}

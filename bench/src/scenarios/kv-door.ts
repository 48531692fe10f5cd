import { kvContender } from '../contenders/kv.ts'
import type { DrawnRequests } from '../load/load.ts'
import { FULL, SMALL } from '../load/requests/kv-entries.ts'
import type { Row } from '../row.ts'
import { BROWSER, CONNECTIONS, NODE_HTTP, RAW } from './doors.ts'
import { bareReads, bareWrites, reads, writes } from './kv.ts'
import type { Scenario } from './scenario.ts'

const kv = (variant: string, entries = FULL) => kvContender({ service: 'kv', variant, settings: {} }, entries)
const FORMER = NODE_HTTP.kv

const asBrowser = (row: Row): Row => {
  const { drawer } = row.load.requests as DrawnRequests
  return { ...row, name: `${row.name}, browser`, load: { ...row.load, requests: { drawer, headers: BROWSER } } }
}

const get: Row = { ...reads('GET', CONNECTIONS), contender: kv(RAW.kv) }
const bareGet = bareReads('bare GET', CONNECTIONS)

export const doorTable: Scenario = {
  service: 'kv',
  name: 'door',
  title: `A base of 1.5 million entries of 100-200 bytes by the door that answers, ${CONNECTIONS} connections, one serving thread; browser: with the ${Object.keys(BROWSER).length} headers that a browser sends`,
  full: true,
  generator: 'raw',
  steps: [
    ['GET', 'bare GET'],
    ['GET', `GET (${FORMER})`],
    ['GET, base of 1,000', 'bare GET'],
    ['GET, browser', 'bare GET, browser'],
    ['PUT', 'bare PUT'],
    ['PUT', `PUT (${FORMER})`],
  ],
  rows: async () => [
    get,
    { ...get, name: `GET (${FORMER})`, contender: kv(FORMER) },
    { ...reads('GET, base of 1,000', CONNECTIONS, SMALL), contender: kv(RAW.kv, SMALL) },
    bareGet,
    asBrowser(get),
    asBrowser(bareGet),
    writes('PUT', kv(RAW.kv), CONNECTIONS),
    writes(`PUT (${FORMER})`, kv(FORMER), CONNECTIONS),
    bareWrites('bare PUT', CONNECTIONS),
  ],
}

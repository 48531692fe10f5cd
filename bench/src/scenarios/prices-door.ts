import { CONNECTIONS, NODE_HTTP, RAW } from './doors.ts'
import { bare, pricesSpec, searches } from './prices.ts'
import type { Scenario } from './scenario.ts'

const FORMER = `search (${NODE_HTTP.prices})`
const [READS, PARSES] = ['bare node:http, body read', 'bare node:http, body parsed']

export const doorTable: Scenario = {
  service: 'prices',
  name: 'door',
  title: `One search a request, random rows of the sample catalog, by the door that answers, ${CONNECTIONS} connections, one serving thread; bare: reads the same body, or parses it, too, and answers a constant`,
  full: true,
  generator: 'raw',
  steps: [
    ['search', READS],
    ['search', PARSES],
    ['search', FORMER],
  ],
  rows: async () => [
    searches('search', pricesSpec(RAW.prices), CONNECTIONS),
    searches(FORMER, pricesSpec(NODE_HTTP.prices), CONNECTIONS),
    bare(READS, CONNECTIONS, 'bytes'),
    bare(PARSES, CONNECTIONS, 'json'),
  ],
}

import { bareContender, floorContender } from '../contenders/bare.ts'
import { nginxContender } from '../contenders/nginx.ts'
import { runIdle } from '../load/idle.ts'
import { PINS } from '../processes.ts'
import { tenth, whole } from '../report/numbers.ts'
import { ask, asking, type Requests } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { specOf } from '../spec.ts'
import { BROWSER, CONNECTIONS, NODE_HTTP, RAW } from './doors.ts'
import { CONSTANT, constant, read, sample, SAMPLE_PATH } from './stats.ts'
import type { OwnTable } from './table.ts'

const PIPELINE = 16
const IDLE = 5000

/** The former default and those on Fastify, beside what they are measured for. */
const VARIANTS = [...new Set([RAW.stats, NODE_HTTP.stats, 'v6', 'v4'])]

const browser: Requests = { ...sample(), requests: [{ method: 'GET', path: SAMPLE_PATH, headers: BROWSER }] }
const stats = (variant: string) => read(specOf('stats', variant))
const raw = stats(RAW.stats)

const CONSTANTS = [
  bareContender(CONSTANT),
  nginxContender(CONSTANT.body),
  nginxContender(CONSTANT.body, { keepsOpen: true }),
  floorContender(CONSTANT),
]

const doorTable: OwnTable = {
  name: 'door',
  title: `Reads of one collection of three videos by the door that answers them, ${CONNECTIONS} connections, one serving thread; browser: with the ${Object.keys(BROWSER).length} headers that a browser sends`,
  together: true,
  steps: [
    ...[NODE_HTTP.stats, 'v4', ...CONSTANTS.map(({ name }) => name)].map((against) => [RAW.stats, against] as const),
    [`${RAW.stats}, browser`, 'bare node:http, browser'],
    [`${RAW.stats}, pipeline of ${PIPELINE}`, RAW.stats],
  ],
  rows: () => [
    ...VARIANTS.map(stats),
    ...CONSTANTS.map((contender) => constant(contender)),
    { ...raw, name: `${RAW.stats}, browser`, ...asking(browser) },
    constant(bareContender(CONSTANT), browser, 'bare node:http, browser'),
    { ...raw, name: `${RAW.stats}, pipeline of ${PIPELINE}`, ...asking({ ...sample(), pipeline: PIPELINE }) },
  ],
}

/** On a server that has served for a while, so that what it learnt and left is no connection's. */
const idle = (row: Row): Row => ({
  ...row,
  async round(running, { duration }) {
    const requests = sample()
    await ask(running, requests, { duration, warmUp: 0 })
    const { url, pid } = running
    const { expect } = requests
    const result = await runIdle({ url, path: SAMPLE_PATH, expect, connections: IDLE, pid, pin: PINS.client })
    const { wrong, cut, before, after } = result
    if (wrong + cut > 0) throw new Error(`${wrong} wrong replies, ${cut} connections that were not kept`)
    return { each: ((after - before) * 1e3) / IDLE, before, after }
  },
})

const connectionsTable: OwnTable = {
  name: 'connections',
  title: `What an idle connection costs: ${whole(IDLE)} that had one reply each and are kept, one serving thread`,
  columns: {
    each: {
      head: 'KB a connection',
      format: tenth,
      of: 'spread',
      plot: 'Resident memory a connection (KB; less is better)',
    },
    before: 'RSS MB without',
    after: 'RSS MB with them',
  },
  rows: () => [...[RAW.stats, NODE_HTTP.stats].map(stats), constant(bareContender(CONSTANT))].map(idle),
}

export const tables: readonly OwnTable[] = [doorTable, connectionsTable]

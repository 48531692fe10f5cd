import { createBareTarget, createFloorTarget } from '../targets/bare.ts'
import { createNginxTarget } from '../targets/nginx.ts'
import { runIdle } from '../load/idle-connections.ts'
import { PINS } from '../processes.ts'
import { formatTenth, formatWhole } from '../report/format-numbers.ts'
import { runLoad, createRequestRound, type RequestLoad } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import { createSpec } from '../spec.ts'
import { BROWSER_HEADERS, CONNECTIONS, NODE_HTTP_VARIANTS, RAW_VARIANTS } from './server-variants.ts'
import { CONSTANT_REPLY, createConstantRow, read, shareRead, createSampleReads, SAMPLE_PATH } from './stats.ts'
import type { ServiceTable } from '../table.ts'

const PIPELINE_REQUESTS = 16
const IDLE_CONNECTIONS = 5000

/** The measured variants: the default, `node-http`, and the earlier variants v6 and v4. */
const MEASURED_VARIANTS = [...new Set([RAW_VARIANTS.stats, NODE_HTTP_VARIANTS.stats, 'v6', 'v4'])]

const browserRequests: RequestLoad = {
  ...createSampleReads(),
  requests: [{ method: 'GET', path: SAMPLE_PATH, headers: BROWSER_HEADERS }],
}
const createStatsRow = (variant: string) => read(createSpec('stats', variant))
const rawRow = createStatsRow(RAW_VARIANTS.stats)

const CONSTANT_TARGETS = [
  createBareTarget(CONSTANT_REPLY),
  createNginxTarget(CONSTANT_REPLY.body),
  createNginxTarget(CONSTANT_REPLY.body, { cachesOpenFiles: true }),
  createFloorTarget(CONSTANT_REPLY),
]

const serverTable: ServiceTable = {
  name: 'server-adapters',
  group: 'reads',
  title: `Reads of one collection of three videos by server adapter, ${CONNECTIONS} connections, one serving thread; browser: with the ${Object.keys(BROWSER_HEADERS).length} headers that a browser sends`,
  together: true,
  steps: [
    ...[NODE_HTTP_VARIANTS.stats, 'v4', ...CONSTANT_TARGETS.map(({ name }) => name)].map(
      (against) => [RAW_VARIANTS.stats, against] as const,
    ),
    [`${RAW_VARIANTS.stats}, browser`, 'bare node:http, browser'],
    [`${RAW_VARIANTS.stats}, pipeline of ${PIPELINE_REQUESTS}`, RAW_VARIANTS.stats],
  ],
  rows: () => [
    ...[...MEASURED_VARIANTS.map(createStatsRow), ...CONSTANT_TARGETS.map((target) => createConstantRow(target))].map(
      shareRead,
    ),
    { ...rawRow, name: `${RAW_VARIANTS.stats}, browser`, ...createRequestRound(browserRequests) },
    createConstantRow(createBareTarget(CONSTANT_REPLY), browserRequests, 'bare node:http, browser'),
    {
      ...rawRow,
      name: `${RAW_VARIANTS.stats}, pipeline of ${PIPELINE_REQUESTS}`,
      ...createRequestRound({ ...createSampleReads(), pipeline: PIPELINE_REQUESTS }),
    },
  ],
}

/**
 * Creates a row that measures idle connections. The server first gets a load, so that compiled code and garbage do not
 * count as memory of the connections.
 */
const createIdleRow = (row: BenchRow): BenchRow => ({
  ...row,
  getCapacity: undefined,
  async round(running, { duration }) {
    const requests = createSampleReads()
    await runLoad(running, requests, { duration, warmUp: 0 })
    const { url, pid } = running
    const { expect } = requests
    const result = await runIdle({
      url,
      path: SAMPLE_PATH,
      expect,
      connections: IDLE_CONNECTIONS,
      pid,
      pin: PINS.client,
    })
    const { wrong, cut, before, after } = result
    if (wrong + cut > 0) throw new Error(`${wrong} wrong replies, ${cut} connections that were cut`)
    return { each: ((after - before) * 1e3) / IDLE_CONNECTIONS, before, after }
  },
})

const connectionsTable: ServiceTable = {
  name: 'connections',
  title: `Memory of idle connections: ${formatWhole(IDLE_CONNECTIONS)} connections that received one reply each and stay open, one serving thread`,
  columns: {
    each: {
      head: 'KB per connection',
      format: formatTenth,
      of: 'spread',
      plot: 'Resident memory per connection (KB; less is better)',
    },
    before: 'RSS MB without',
    after: 'RSS MB with them',
  },
  rows: () =>
    [
      ...[RAW_VARIANTS.stats, NODE_HTTP_VARIANTS.stats].map(createStatsRow),
      createConstantRow(createBareTarget(CONSTANT_REPLY)),
    ].map(createIdleRow),
}

export const tables: readonly ServiceTable[] = [serverTable, connectionsTable]

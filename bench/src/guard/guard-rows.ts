import { createRequestRound } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import { createSpec } from '../spec.ts'
import { workloads } from '../tables/all.ts'
import { tables as overviewTables } from '../tables/stats-overview.ts'
import { createRow, tables as sseTables } from '../tables/sse.ts'
import { tables as startTables } from '../tables/start.ts'
import type { ServiceTable } from '../table.ts'
import { createServiceTarget, createStandInTarget } from '../targets/service.ts'

/** A row that the guard compares between two commits. Less is better in every row. */
export interface GuardRow {
  readonly name: string
  readonly row: BenchRow
  /** Metric of a round to compare, and its unit. Absent for rows of requests: processor time per request. */
  readonly metric?: string
  /** Unit of the metric's processor time; absent: a request. */
  readonly unit?: string
  /** False if a CPU profile of its service does not explain the metric: it is memory, or the row starts its services itself. */
  readonly isProfiled?: false
  /** True if the short form has the row. */
  readonly isShort?: boolean
}

/** A workload of a service. */
const getWorkload = (service: string, work: string, variant = ''): BenchRow =>
  workloads[service]![work]!(createSpec(service, variant))

/** A row of a table, by their names. */
function getTableRow(tables: readonly ServiceTable[], table: string, name: string): BenchRow {
  const rows = tables.find((one) => one.name === table)!.rows([])
  return rows.find((row) => row.name === name)!
}

/** Calls of the stand-in for YouTube, as stats makes them in one request of v3. */
const standInRow: BenchRow = {
  name: 'stand-in',
  target: createStandInTarget(),
  ...createRequestRound({
    says: '16 connections that ask for the statistics of one video',
    requests: ['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo'].map((id) => ({
      method: 'GET',
      path: `/youtube/v3/videos?part=statistics&id=${id}&key=stand-in`,
    })),
    expect: { status: 200, includes: '"viewCount"' },
    connections: 16,
  }),
}

/**
 * Values at a constant rate. If publishers send as fast as possible, the number of values per write differs between
 * starts, and the cost of a delivery varies by a third.
 */
const deliveryRow = createRow('delivery', createServiceTarget(createSpec('sse')), {
  streams: 1000,
  spacing: 0,
  sending: { values: 400, interval: 10 },
  publishers: 8,
})

export const guardRows: readonly GuardRow[] = [
  { name: 'stats-cached', row: getWorkload('stats', 'read'), isShort: true },
  { name: 'stats-v1', row: getWorkload('stats', 'read', 'v1') },
  { name: 'stats-v3', row: getWorkload('stats', 'read', 'v3'), isShort: true },
  { name: 'stand-in', row: standInRow },
  { name: 'stats-overview', row: getTableRow(overviewTables, 'overview', 'a page by id') },
  { name: 'kv-get', row: getWorkload('kv', 'get-small'), isShort: true },
  { name: 'kv-get-full', row: getWorkload('kv', 'get-full') },
  { name: 'kv-put', row: getWorkload('kv', 'put-empty'), isShort: true },
  { name: 'kv-put-durable', row: getWorkload('kv', 'put-durable') },
  { name: 'sse-delivery', row: deliveryRow, metric: 'cpu', unit: 'delivery', isShort: true },
  {
    name: 'sse-mercure',
    row: getTableRow(sseTables, 'mercure-saturation', 'Mercure'),
    metric: 'cpu',
    unit: 'delivery',
  },
  { name: 'sse-connect', row: getWorkload('sse', 'connecting'), metric: 'connectCpu', unit: 'stream' },
  { name: 'sse-memory', row: getWorkload('sse', 'memory'), metric: 'perStream', isProfiled: false },
  { name: 'prices-search', row: getWorkload('prices', 'search'), isShort: true },
  { name: 'prices-bulk', row: getWorkload('prices', 'bulk'), metric: 'cpu', unit: 'price' },
  { name: 'start', row: getTableRow(startTables, 'start', 'later'), metric: 'cpu', isProfiled: false },
  { name: 'idle-memory', row: getTableRow(startTables, 'start', 'later'), metric: 'pss', isProfiled: false },
]

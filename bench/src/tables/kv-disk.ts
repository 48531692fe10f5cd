import type { BenchTarget, TargetProcess } from '../targets/target.ts'
import { createKvTarget } from '../targets/kv.ts'
import { FULL_BASE_ENTRIES, getValue } from '../load/requests/kv-entries.ts'
import { runScan } from '../load/range-scan.ts'
import { loadPages } from '../page-cache.ts'
import { getBytesRead, getMajorFaults, PINS } from '../processes.ts'
import { toMilliseconds, formatHundredth, formatPercent, formatShort } from '../report/format-numbers.ts'
import { runLoad } from '../rounds/request-round.ts'
import type { RowMetrics, RoundOptions, BenchRow } from '../row.ts'
import { createSpec } from '../spec.ts'
import { formatConnections, createRequests, type KvLoad } from './kv.ts'
import { createScarceTarget } from './kv-trials.ts'
import type { ServiceTable } from '../table.ts'

const KV_SPEC = createSpec('kv')
const BYTES_PER_MB = 1e6

// Reads from the disk.

/** Minimum duration of reads from the disk (s), which are a hundred times slower than others. */
const MIN_COLD_S = 5
/** Minimum number of major faults per request if the base is twice as large as the memory. */
const MIN_COLD_FAULTS = 0.1

async function measureDiskReads(
  running: TargetProcess,
  kind: KvLoad,
  isCold: boolean,
  { duration, warmUp }: RoundOptions,
): Promise<RowMetrics> {
  const count = () => [getBytesRead(running.pid), getMajorFaults(running.pid)] as const
  const before = count()
  const timing = isCold ? { duration: Math.max(duration, MIN_COLD_S), warmUp: 0 } : { duration, warmUp }
  const { perSecond, latency, requests } = await runLoad(running, createRequests(kind), timing)
  const [read, majorFaults] = count().map((value, i) => value - before[i]!) as [number, number]
  const faults = majorFaults / requests
  if (isCold && faults < MIN_COLD_FAULTS)
    throw new Error(`only ${faults.toFixed(3)} major faults per request: the base was in memory`)
  const disk = { faults, read: read / BYTES_PER_MB, perRequest: read / 1024 / requests }
  return {
    perSecond,
    p50: toMilliseconds(latency.p50),
    p99: toMilliseconds(latency.p99),
    ...disk,
  }
}

const createDiskRow = (name: string, target: BenchTarget, connections: number, isCold = false): BenchRow => ({
  name: `GET, ${name}, ${formatConnections(connections)}`,
  target,
  round: (running, how) =>
    measureDiskReads(running, { method: 'GET', entries: FULL_BASE_ENTRIES, connections }, isCold, how),
})

const createColdRow = (connections: number) =>
  createDiskRow('pages evicted, cache of 8 MB', createScarceTarget(FULL_BASE_ENTRIES), connections, true)

function createCachedRow(cacheMegabytes: string, connections: number): BenchRow {
  const target = createKvTarget(KV_SPEC, FULL_BASE_ENTRIES, { cacheMegabytes }, loadPages)
  return createDiskRow(`pages cached, cache of ${cacheMegabytes} MB`, target, connections)
}

const cold: ServiceTable = {
  name: 'cold',
  title:
    'Reads of a full base from the disk, and with all pages in memory. From the disk: its pages are evicted after the start, and a Linux cgroup limits the process and its file pages to 128 MB, so that pages can be evicted again during the round. A major fault is a wait for a page from the disk',
  columns: {
    faults: { head: 'major faults per request', format: formatHundredth, of: 'spread' },
    perSecond: { head: 'requests/s', format: formatShort, of: 'spread' },
    p50: { head: 'p50 ms', of: 'spread' },
    p99: { head: 'p99 ms', of: 'spread' },
    read: 'MB read from disk',
    perRequest: 'KiB read per request',
  },
  rows: () => [
    createColdRow(1),
    createColdRow(64),
    createCachedRow('8', 1),
    createCachedRow('8', 64),
    createCachedRow('128', 64),
  ],
}

// Scans.

const SCANS = {
  'a chunk an entry': { accept: 'application/octet-stream', around: 1 },
  NDJSON: { accept: 'application/x-ndjson', around: '{"op":"put","id":"","value":""}\n'.length },
} as const

/** Size of a scan of a full base (bytes). @param around bytes per entry in addition to id and value */
function countScanBytes(around: number): number {
  let bytes = 0
  for (let id = 0; id < FULL_BASE_ENTRIES; id++) bytes += String(id).length + getValue(id).length + around
  return bytes
}

const createScanRow = (name: keyof typeof SCANS, isFirst: boolean): BenchRow => ({
  name: isFirst ? `${name}, first scan` : name,
  target: createKvTarget(KV_SPEC, FULL_BASE_ENTRIES),
  async round({ url, pid }) {
    const { accept, around } = SCANS[name]
    const plan = { url, path: '/v0/entities?start=%00', headers: { accept }, pid, pin: PINS.client }
    if (!isFirst) await runScan(plan)
    const { status, bytes, seconds, before, peak, cpu } = await runScan(plan)
    if (status !== 200 || bytes !== countScanBytes(around))
      throw new Error(`the scan returned ${bytes} bytes with status ${status}`)
    const memory = { before: before.all, growth: peak.all - before.all, mapped: peak.files - before.files }
    return { megabytes: bytes / BYTES_PER_MB / seconds, entries: FULL_BASE_ENTRIES / seconds, ...memory, reader: cpu }
  },
})

const scan: ServiceTable = {
  name: 'scan',
  title:
    'All entries of a full base as one range; a first scan maps all tables into memory, which the system can reclaim',
  columns: {
    megabytes: { head: 'MB/s', of: 'spread', format: formatShort, plot: 'A scan (MB/s)' },
    entries: 'entries/s',
    before: 'RSS before MB',
    growth: 'RSS growth MB',
    mapped: 'mapped files MB',
    reader: { head: 'reader CPU', format: formatPercent },
  },
  rows: () =>
    (['a chunk an entry', 'NDJSON'] as const).flatMap((name) => [
      createScanRow(name, true),
      createScanRow(name, false),
    ]),
}

export const tables: readonly ServiceTable[] = [cold, scan]

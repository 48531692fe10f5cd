import type { Running } from '../contenders/contender.ts'
import { kvContender } from '../contenders/kv.ts'
import { FULL, valueOf } from '../load/requests/kv-entries.ts'
import { runScan } from '../load/scan.ts'
import { evict, readAll } from '../pages.ts'
import { bytesRead, PINS } from '../processes.ts'
import { ms, percent, short } from '../report/numbers.ts'
import { ask } from '../rounds/requests.ts'
import type { Figures, How, Row } from '../row.ts'
import { specOf } from '../spec.ts'
import { connectionsText, requestsOf, type Kind } from './kv.ts'
import type { OwnTable } from './table.ts'

const SPEC = specOf('kv')
const MEGA = 1e6

// From the disk.

async function fromDisk(running: Running, kind: Kind, isCold: boolean, { duration, warmUp }: How): Promise<Figures> {
  const before = bytesRead(running.pid)
  // Warming up would read the pages that are to be read.
  const way = { duration, warmUp: isCold ? 0 : warmUp }
  const { perSecond, latency, requests } = await ask(running, requestsOf(kind), way)
  const read = bytesRead(running.pid) - before
  if (isCold && !(read > 0)) throw new Error('nothing was read from the disk: pages cannot be evicted here')
  const disk = { read: read / MEGA, perRequest: read / 1024 / requests }
  return { pages: isCold ? 'evicted' : 'cached', perSecond, p50: ms(latency.p50), p99: ms(latency.p99), ...disk }
}

const disk = (isCold: boolean, cacheMegabytes: number, connections: number): Row => ({
  name: `GET, ${isCold ? 'pages evicted' : 'pages cached'}, cache of ${cacheMegabytes} MB, ${connectionsText(connections)}`,
  contender: kvContender(SPEC, FULL, { cacheMegabytes: String(cacheMegabytes) }, isCold ? evict : readAll),
  round: (running, how) => fromDisk(running, { method: 'GET', entries: FULL, connections }, isCold, how),
  ...(isCold && connections === 1 && { source: { perSecond: 200 } }),
})

const cold: OwnTable = {
  name: 'cold',
  title: "Reads of a full base that is on the disk, its pages evicted before each round, against the system's cache",
  columns: {
    pages: 'pages before',
    perSecond: { head: 'requests/s', better: 'more' },
    'source: perSecond': 'source: stable/s',
    p50: 'p50 ms',
    p99: 'p99 ms',
    read: 'MB read from disk',
    perRequest: 'KiB read a request',
  },
  rows: () => [disk(true, 8, 1), disk(true, 8, 64), disk(false, 8, 1), disk(false, 8, 64), disk(false, 128, 64)],
}

// Scans.

const SCANS = {
  'a chunk an entry': { accept: 'application/octet-stream', around: 1 },
  NDJSON: { accept: 'application/x-ndjson', around: '{"op":"put","id":"","value":""}\n'.length },
} as const

/** Bytes that a scan of a full base must have. */
function scanBytes(around: number): number {
  let bytes = 0
  for (let id = 0; id < FULL; id++) bytes += String(id).length + valueOf(id).length + around
  return bytes
}

const scanning = (name: keyof typeof SCANS, isFirst: boolean): Row => ({
  name: isFirst ? `${name}, first scan` : name,
  contender: kvContender(SPEC, FULL),
  async round({ url, pid }) {
    const { accept, around } = SCANS[name]
    const plan = { url, path: '/v0/entities?start=%00', headers: { accept }, pid, pin: PINS.client }
    if (!isFirst) await runScan(plan)
    const { status, bytes, seconds, before, peak, peakFiles, beforeFiles, cpu } = await runScan(plan)
    if (status !== 200 || bytes !== scanBytes(around)) throw new Error(`${bytes} bytes came, status ${status}`)
    const memory = { before, growth: peak - before, mapped: peakFiles - beforeFiles }
    return { megabytes: bytes / MEGA / seconds, entries: FULL / seconds, ...memory, reader: cpu }
  },
})

const scan: OwnTable = {
  name: 'scan',
  title:
    'The whole of a full base as one range; a first scan maps all tables into memory, which the system can take back',
  columns: {
    megabytes: { head: 'MB/s', of: 'spread', format: short, plot: 'A scan (MB/s)' },
    entries: 'entries/s',
    before: 'RSS before MB',
    growth: 'RSS growth MB',
    mapped: 'of it mapped files MB',
    reader: { head: 'reader CPU', format: percent },
  },
  rows: () => [
    scanning('a chunk an entry', true),
    scanning('a chunk an entry', false),
    scanning('NDJSON', true),
    scanning('NDJSON', false),
  ],
}

export const tables: readonly OwnTable[] = [cold, scan]

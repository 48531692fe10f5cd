import { createConnection, type Connection } from '../load/common/connection.ts'
import { inOwnProcess } from '../load/common/own-process.ts'
import { randomOf } from '../load/requests/drawers.ts'
import { processorSeconds, residentMegabytes } from '../processes.ts'
import type { CatalogPlan } from './catalogs.ts'
import { KnownCatalog } from './known-catalog.ts'
import { bulkPath, type IndexName } from './searches.ts'

/** Bulk requests, one after the other on each connection. */
export interface BulkPlan {
  readonly url: string
  readonly index: IndexName
  readonly catalog: CatalogPlan
  /** Searches in a request, for random rows. */
  readonly items: number
  readonly connections: number
  /** Seconds, and at least one request a connection. */
  readonly duration: number
  /** Seconds before, with requests of at most 3,000 searches. */
  readonly warmUp: number
  /** The server's process, whose memory and processor time are watched. */
  readonly pid: number
}

/** Seconds: the largest request takes some. */
const LIMIT = 60
/** Milliseconds between looks at the server's memory. */
const LOOK = 5
const LARGEST_OF_WARM_UP = 3_000
/** Requests that are made ready: not all the same, and not all new either. */
const READY = 8

interface BulkRequest {
  readonly bytes: Buffer
  /** The rows that its answers must be, in their order. */
  readonly rows: readonly number[]
}

/**
 * Requests are made, and on one connection answers checked, while nothing is timed.
 *
 * @returns what each request took, from the first byte sent to the last one received (ms); all of them together (s), and of
 * the server's processor; and its resident memory before and at its highest (MB)
 */
export async function bulkHere(plan: BulkPlan) {
  const { url, items, duration, warmUp, pid } = plan
  const known = new KnownCatalog(plan.catalog)
  const random = randomOf(1)
  const make = (count: number) => makeRequest(plan, known, random, count)
  const connections = Array.from({ length: plan.connections }, () => createConnection(new URL(url)))
  /** Asks on all connections at once for so many seconds, and at least once on each; gives what each request took (ms). */
  const askFor = async (seconds: number, requests: readonly BulkRequest[]): Promise<number[]> => {
    const milliseconds: number[] = []
    const until = performance.now() + seconds * 1000
    await Promise.all(
      connections.map(async (connection, first) => {
        let next = first
        do milliseconds.push(await ask(connection, requests[next++ % requests.length]!, known))
        while (performance.now() < until)
      }),
    )
    return milliseconds
  }
  try {
    const small = Array.from({ length: READY }, () => make(Math.min(items, LARGEST_OF_WARM_UP)))
    await askFor(warmUp, small)
    const requests = items > LARGEST_OF_WARM_UP ? [make(items)] : small
    const before = residentMegabytes(pid)
    let peak = before
    const timer = setInterval(() => (peak = Math.max(peak, residentMegabytes(pid))), LOOK)
    const cpu = processorSeconds(pid)
    const began = performance.now()
    const milliseconds = await askFor(duration, requests)
    const seconds = (performance.now() - began) / 1000
    clearInterval(timer)
    const serverCpu = processorSeconds(pid) - cpu
    peak = Math.max(peak, residentMegabytes(pid))
    return { requests: milliseconds.length, seconds, milliseconds, serverCpu, before, peak }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** @throws Error when an answer was wrong or missing */
export const runBulk = inOwnProcess(import.meta.url, bulkHere, LIMIT)

function makeRequest(plan: BulkPlan, known: KnownCatalog, random: () => number, count: number): BulkRequest {
  const rows = Array.from({ length: count }, () => Math.floor(random() * known.size))
  const body = rows.map((row, i) => known.bodyOf(row, { id: String(i) })).join('\n')
  const head = `POST ${bulkPath(plan.index)} HTTP/1.1\r\nHost: ${new URL(plan.url).host}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n`
  return { bytes: Buffer.from(head + body, 'latin1'), rows }
}

/** @returns milliseconds. @throws Error when the reply is not what it should be */
async function ask(connection: Connection, request: BulkRequest, known: KnownCatalog) {
  const began = performance.now()
  const { status, body, at } = await connection.ask(request.bytes)
  if (status !== 200) throw new Error(`status ${status}: ${body.toString('utf8', 0, 200)}`)
  checkAnswers(body, request.rows, known)
  return at - began
}

const PRICE = '{"price":{"id":"'
const ID = 36

function checkAnswers(body: Buffer, rows: readonly number[], known: KnownCatalog): void {
  let at = 0
  rows.forEach((row, i) => {
    at += PRICE.length + ID
    const rest = `","spec":"${known.specOf(row)}","value":${row},"currency":"USD"},"error":{},"id":"${i}"}\n`
    if (body.toString('latin1', at, at + rest.length) !== rest) throw new Error(`answer ${i} is wrong`)
    at += rest.length
  })
  if (at !== body.length) throw new Error('there are more answers than searches')
}

import { createConnection, type LoadConnection } from '../load/common/load-connection.ts'
import { createProcessRunner } from '../load/common/process-runner.ts'
import { createRandom } from '../load/requests/drawers.ts'
import { getProcessorSeconds, getResidentMegabytes } from '../processes.ts'
import type { CatalogPlan } from './catalogs.ts'
import { ExpectedCatalog } from './expected-catalog.ts'
import { getBulkPath, type IndexName } from './searches.ts'

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
const MAX_RUN_S = 60
/** Milliseconds between looks at the server's memory. */
const SAMPLE_INTERVAL_MS = 5
const MAX_WARM_UP_ITEMS = 3_000
/** Requests that are made ready: not all the same, and not all new either. */
const PREPARED_REQUESTS = 8

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
export async function measureBulk(plan: BulkPlan) {
  const { url, items, duration, warmUp, pid } = plan
  const expectedCatalog = new ExpectedCatalog(plan.catalog)
  const random = createRandom(1)
  const make = (count: number) => makeRequest(plan, expectedCatalog, random, count)
  const connections = Array.from({ length: plan.connections }, () => createConnection(new URL(url)))
  /** Asks on all connections at once for so many seconds, and at least once on each; gives what each request took (ms). */
  const sendFor = async (seconds: number, requests: readonly BulkRequest[]): Promise<number[]> => {
    const milliseconds: number[] = []
    const until = performance.now() + seconds * 1000
    await Promise.all(
      connections.map(async (connection, first) => {
        let next = first
        do milliseconds.push(await sendRequest(connection, requests[next++ % requests.length]!, expectedCatalog))
        while (performance.now() < until)
      }),
    )
    return milliseconds
  }
  try {
    const small = Array.from({ length: PREPARED_REQUESTS }, () => make(Math.min(items, MAX_WARM_UP_ITEMS)))
    await sendFor(warmUp, small)
    const requests = items > MAX_WARM_UP_ITEMS ? [make(items)] : small
    const before = getResidentMegabytes(pid)
    let peak = before
    const timer = setInterval(() => (peak = Math.max(peak, getResidentMegabytes(pid))), SAMPLE_INTERVAL_MS)
    const cpu = getProcessorSeconds(pid)
    const began = performance.now()
    const milliseconds = await sendFor(duration, requests)
    const seconds = (performance.now() - began) / 1000
    clearInterval(timer)
    const serverCpu = getProcessorSeconds(pid) - cpu
    peak = Math.max(peak, getResidentMegabytes(pid))
    return { requests: milliseconds.length, seconds, milliseconds, serverCpu, before, peak }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** @throws Error when an answer was wrong or missing */
export const runBulk = createProcessRunner(import.meta.url, measureBulk, MAX_RUN_S)

function makeRequest(
  plan: BulkPlan,
  expectedCatalog: ExpectedCatalog,
  random: () => number,
  count: number,
): BulkRequest {
  const rows = Array.from({ length: count }, () => Math.floor(random() * expectedCatalog.size))
  const body = rows.map((row, i) => expectedCatalog.buildBody(row, { id: String(i) })).join('\n')
  const head = `POST ${getBulkPath(plan.index)} HTTP/1.1\r\nHost: ${new URL(plan.url).host}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n`
  return { bytes: Buffer.from(head + body, 'latin1'), rows }
}

/** @returns milliseconds. @throws Error when the reply is not what it should be */
async function sendRequest(connection: LoadConnection, request: BulkRequest, expectedCatalog: ExpectedCatalog) {
  const began = performance.now()
  const { status, body, at } = await connection.request(request.bytes)
  if (status !== 200) throw new Error(`status ${status}: ${body.toString('utf8', 0, 200)}`)
  checkAnswers(body, request.rows, expectedCatalog)
  return at - began
}

const PRICE_PREFIX = '{"price":{"id":"'
const ID_LENGTH = 36

function checkAnswers(body: Buffer, rows: readonly number[], expectedCatalog: ExpectedCatalog): void {
  let at = 0
  rows.forEach((row, i) => {
    at += PRICE_PREFIX.length + ID_LENGTH
    const rest = `","spec":"${expectedCatalog.getSpec(row)}","value":${row},"currency":"USD"},"error":{},"id":"${i}"}\n`
    if (body.toString('latin1', at, at + rest.length) !== rest) throw new Error(`answer ${i} is wrong`)
    at += rest.length
  })
  if (at !== body.length) throw new Error('there are more answers than searches')
}

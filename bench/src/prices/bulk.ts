import { createConnection, type LoadConnection } from '../load/common/load-connection.ts'
import { createProcessRunner } from '../load/common/process-runner.ts'
import { createRandom } from '../load/requests/drawers.ts'
import { getProcessorSeconds, watchMemory } from '../processes.ts'
import type { CatalogPlan } from '../load/requests/catalogs.ts'
import { ExpectedCatalog } from '../load/requests/expected-catalog.ts'
import { getBulkPath, type IndexName } from '../load/requests/searches.ts'

/** A run of bulk requests, one after the other on each connection. */
export interface BulkPlan {
  readonly url: string
  readonly index: IndexName
  readonly catalog: CatalogPlan
  /** Number of searches for random rows in a request. */
  readonly items: number
  readonly connections: number
  /** Measured seconds. Each connection sends at least one request. */
  readonly duration: number
  /** Seconds of the warm-up, with requests of at most 3,000 searches. */
  readonly warmUp: number
  /** The server's process, whose memory and processor time are measured. */
  readonly pid: number
}

/** Maximum duration of a run (s). The largest request takes several seconds. */
const MAX_RUN_S = 60
/** Interval between samples of the server's memory (ms). */
const SAMPLE_INTERVAL_MS = 5
const MAX_WARM_UP_ITEMS = 3_000
/** Number of different prepared requests, which are sent in turn. */
const PREPARED_REQUESTS = 8

interface BulkRequest {
  readonly bytes: Buffer
  /** The rows that its answers must contain, in order. */
  readonly rows: readonly number[]
}

/**
 * Measures a run. The requests are prepared before the measurement.
 *
 * @returns the time of each request, from the first byte sent to the last byte received (ms); the duration of the run
 *   and the processor time of the server (s); and the resident memory of the server before the run and at its maximum
 *   (MB)
 */
export async function measureBulk(plan: BulkPlan) {
  const { url, items, duration, warmUp, pid } = plan
  const expectedCatalog = new ExpectedCatalog(plan.catalog)
  const random = createRandom(1)
  const make = (count: number) => makeRequest(plan, expectedCatalog, random, count)
  const connections = Array.from({ length: plan.connections }, () => createConnection(new URL(url)))
  /** Sends on all connections for `seconds`, at least once on each. @returns the time of each request (ms) */
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
    const endWatch = watchMemory(pid, SAMPLE_INTERVAL_MS)
    const cpu = getProcessorSeconds(pid)
    const began = performance.now()
    const milliseconds = await sendFor(duration, requests)
    const seconds = (performance.now() - began) / 1000
    const serverCpu = getProcessorSeconds(pid) - cpu
    const { before, peak } = endWatch()
    return { requests: milliseconds.length, seconds, milliseconds, serverCpu, before: before.all, peak: peak.all }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** Measures a run in a new process. @throws Error if an answer was wrong or missing */
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

/** Sends a request and checks its answers. @returns its time (ms). @throws Error if an answer is wrong */
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

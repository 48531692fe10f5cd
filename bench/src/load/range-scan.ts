import { startOwnMeter, watchMemory } from '../processes.ts'
import { createConnection } from './common/load-connection.ts'
import { createProcessRunner } from './common/process-runner.ts'
import { prepareRequest } from './requests/request-bytes.ts'

/** A scan of a range, which is read completely. */
export interface ScanPlan {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The server's process, whose memory is measured. */
  readonly pid: number
}

/** Maximum duration of a run (s). A scan has millions of entries. */
const MAX_RUN_S = 120
/** Interval between samples of the server's memory (ms). */
const SAMPLE_INTERVAL_MS = 20

/** Reads one reply completely. Node's client would be the bottleneck, because it emits an event per chunk. */
export async function measureScan({ url, path, headers, pid }: ScanPlan) {
  const target = new URL(url)
  const endWatch = watchMemory(pid, SAMPLE_INTERVAL_MS)
  const readMeter = startOwnMeter()
  const connection = createConnection(target, { buffersBodies: false })
  const request = prepareRequest(target.host, { method: 'GET', path, headers }).bytes
  const { status, bodyBytes } = await connection.request(request)
  const meter = readMeter()
  connection.close()
  // `bytes` are those of the body, without the chunk framing.
  return { status, bytes: bodyBytes, ...meter, ...endWatch() }
}

/** Reads a range in a new process, without a rate limit. */
export const runScan = createProcessRunner(import.meta.url, measureScan, MAX_RUN_S)

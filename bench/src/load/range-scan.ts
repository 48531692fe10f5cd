import { getResidentMegabytes } from '../processes.ts'
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

/**
 * Reads one reply completely. It does not use Node's client, which would be the bottleneck: it emits an event per
 * chunk.
 */
export async function measureScan({ url, path, headers, pid }: ScanPlan) {
  const target = new URL(url)
  const before = getResidentMegabytes(pid)
  const beforeFiles = getResidentMegabytes(pid, 'RssFile')
  let [peak, peakFiles] = [before, beforeFiles]
  function updatePeak(): void {
    const now = getResidentMegabytes(pid)
    if (now > peak) [peak, peakFiles] = [now, getResidentMegabytes(pid, 'RssFile')]
  }

  const timer = setInterval(updatePeak, SAMPLE_INTERVAL_MS)
  const cpu = process.cpuUsage()
  const began = performance.now()
  const connection = createConnection(target, { buffersBodies: false })
  const request = prepareRequest(target.host, { method: 'GET', path, headers }).bytes
  const { status, bodyBytes, at } = await connection.request(request).finally(() => clearInterval(timer))
  const seconds = (at - began) / 1000
  connection.close()
  updatePeak()
  const { user, system } = process.cpuUsage(cpu)
  return {
    status,
    /** Bytes of the body, without the chunk framing. */
    bytes: bodyBytes,
    seconds,
    /**
     * Resident memory of the server before the scan, and its maximum during the scan (MB). `beforeFiles` and
     * `peakFiles` are the parts for mapped files.
     */
    before,
    beforeFiles,
    peak,
    peakFiles,
    /** Share of a processor that the reader used. */
    cpu: (user + system) / 1e6 / seconds,
  }
}

/** Reads a range in a new process, without a rate limit. */
export const runScan = createProcessRunner(import.meta.url, measureScan, MAX_RUN_S)

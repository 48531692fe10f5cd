import { residentMegabytes } from '../processes.ts'
import { createConnection } from './common/connection.ts'
import { inOwnProcess } from './common/own-process.ts'
import { readyRequest } from './requests/request-bytes.ts'

/** A range to be read to its end. */
export interface ScanPlan {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The server's process, whose memory is watched. */
  readonly pid: number
}

/** Seconds: a scan is of millions of entries. */
const LIMIT = 120
/** Milliseconds between looks at the server's memory. */
const LOOK = 20

/** Reads one reply to its end. Node's client would be the slower end: it makes an event of each chunk. */
export async function scanHere({ url, path, headers, pid }: ScanPlan) {
  const target = new URL(url)
  const before = residentMegabytes(pid)
  const beforeFiles = residentMegabytes(pid, 'RssFile')
  let [peak, peakFiles] = [before, beforeFiles]
  function look(): void {
    const now = residentMegabytes(pid)
    if (now > peak) [peak, peakFiles] = [now, residentMegabytes(pid, 'RssFile')]
  }

  const timer = setInterval(look, LOOK)
  const cpu = process.cpuUsage()
  const began = performance.now()
  const connection = createConnection(target, { keepsBodies: false })
  const request = readyRequest(target.host, { method: 'GET', path, headers }).bytes
  const { status, bodyBytes, at } = await connection.ask(request).finally(() => clearInterval(timer))
  const seconds = (at - began) / 1000
  connection.close()
  look()
  const { user, system } = process.cpuUsage(cpu)
  return {
    status,
    /** Of the body: what frames its chunks is left out. */
    bytes: bodyBytes,
    seconds,
    /** Resident memory of the server before, and at its highest while it sent (MB); and what of it is mapped files. */
    before,
    beforeFiles,
    peak,
    peakFiles,
    /** Share of a processor that the reader took. */
    cpu: (user + system) / 1e6 / seconds,
  }
}

/** Reads a range in a process of its own, as fast as it comes. */
export const runScan = inOwnProcess(import.meta.url, scanHere, LIMIT)

import { once } from 'node:events'
import { connect } from 'node:net'
import { residentMegabytes } from '../processes.ts'
import { runInOwnProcess } from './common/own-process.ts'
import { ReplyScanner, type Scan } from './raw/reply-scanner.ts'
import { readyRequest } from './requests/request-bytes.ts'

/** A range to be read to its end. */
export interface ScanPlan {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The server's process, whose memory is watched. */
  readonly pid: number
  readonly pin?: readonly number[]
}

export interface ScanResult {
  readonly status: number
  /** Of the body: what frames its chunks is left out. */
  readonly bytes: number
  readonly seconds: number
  /** Resident memory of the server before, and at its highest while it sent (MB); and what of it is mapped files. */
  readonly before: number
  readonly beforeFiles: number
  readonly peak: number
  readonly peakFiles: number
  /** Share of a processor that the reader took. */
  readonly cpu: number
}

/** A scan of millions of entries takes seconds. */
const LIMIT = 120_000

/** Reads a range in a process of its own, as fast as it comes. */
export const runScan = (plan: ScanPlan): Promise<ScanResult> =>
  runInOwnProcess(import.meta.url, 'runScanHere', plan, LIMIT)

/** Milliseconds between looks at the server's memory. */
const LOOK = 20

/** Reads one reply to its end. Node's client would be the slower end: it makes an event of each chunk. */
export async function runScanHere({ url, path, headers, pid }: ScanPlan): Promise<ScanResult> {
  const { hostname, port, host } = new URL(url)
  const scanner = new ReplyScanner(false)
  scanner.begin(false)
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
  const socket = connect({ host: hostname, port: Number(port) })
  let state = 'more' as Scan
  socket.on('data', (data) => {
    state = scanner.feed(data)
    if (state !== 'more') socket.destroy()
  })
  socket.write(readyRequest(host, { method: 'GET', path, headers }).bytes)
  await once(socket, 'close').finally(() => clearInterval(timer))
  const seconds = (performance.now() - began) / 1000
  look()
  if (state !== 'done' || scanner.left > 0) throw new Error('the reply was cut')
  const { user, system } = process.cpuUsage(cpu)
  const { status, bodyBytes: bytes } = scanner
  const memory = { before, beforeFiles, peak, peakFiles }
  return { status, bytes, seconds, ...memory, cpu: (user + system) / 1e6 / seconds }
}

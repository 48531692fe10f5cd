import { runInOwnProcess } from './common/own-process.ts'

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
export const runScan = (plan: ScanPlan): Promise<ScanResult> => runInOwnProcess('scan', plan, LIMIT)

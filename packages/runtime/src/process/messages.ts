import type { MessagePort } from 'node:worker_threads'
import type { MetricsJson } from '../metrics/metrics.ts'
import type { CommonSettings } from '../settings/settings.ts'

/** The settings of one service as they cross between processes and threads. */
export type Config = CommonSettings & Record<string, unknown>

/** What a worker is started with. */
export interface ThreadData {
  /** The module that exports the table of services. */
  readonly services: string
  readonly name: string
  readonly config: Config
  readonly index: number
  readonly port: number
  readonly reusePort: boolean
  readonly shared: unknown
  /** One counter a thread; a thread that is alive keeps adding to its own. */
  readonly heartbeats: Int32Array
  /** The service's own line to main. */
  readonly bus: MessagePort
}

/** Main to a serving thread. */
export type ToThread =
  | { kind: 'listen' }
  | { kind: 'drain'; timeout: number }
  | { kind: 'collect'; id: number }
  | { kind: 'scraped'; id: number; text: string | undefined }

/** A serving thread to main. */
export type FromThread =
  | { kind: 'built' }
  | { kind: 'ready'; port: number }
  | { kind: 'drained'; clean: boolean }
  | { kind: 'collected'; id: number; metrics: MetricsJson }
  | { kind: 'scrape'; id: number }

/** Supervisor to a service process. */
export type ToProcess = { kind: 'start'; services: string; name: string; config: Config } | { kind: 'stop' }

/** A service process to its supervisor. */
export type FromProcess =
  | { kind: 'ready'; url: string; threads: number; note?: string }
  | { kind: 'failed'; code: string; message: string }

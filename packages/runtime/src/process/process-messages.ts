import type { MessagePort } from 'node:worker_threads'
import type { BucketMemory } from '../limits/token-buckets.ts'
import type { CommonSettings } from '../settings/settings.ts'
import type { KeyPair } from '../tls/certificate.ts'

/** The settings of one service as they cross between processes and threads. */
export type ServiceConfig = CommonSettings & Record<string, unknown>

/** What a worker is started with. */
export interface ThreadData {
  /** The module that exports the table of services. */
  readonly services: string
  readonly name: string
  readonly config: ServiceConfig
  readonly index: number
  readonly reusePort: boolean
  /** One counter a thread; a thread that is alive keeps adding to its own. */
  readonly heartbeats: Int32Array
  /** What all threads count the bytes in that they hold for clients. */
  readonly budget: Int32Array
  /** What all threads count requests in, where these are limited. */
  readonly limits: BucketMemory | undefined
  /** What the sinks of all threads share. */
  readonly sinkWords: Int32Array
  /** The line of calls to and from main. */
  readonly bus: MessagePort
}

/** The runtime's own calls, on the line that a service's calls take: main gives the figures of all, a thread its own. */
export const SCRAPE_CALL = 'runtime:scrape'
export const COLLECT_CALL = 'runtime:collect'
/** Main tells its threads of another certificate. */
export const RENEW_CALL = 'runtime:renew'

/** Main to a serving thread. */
export type ThreadCommand =
  /** What is known once main has opened what there is: the thread has loaded its code meanwhile. */
  | { kind: 'begin'; shared: unknown; port: number; certificate: KeyPair | undefined }
  | { kind: 'listen' }
  | { kind: 'drain'; timeout: number }

/** A serving thread to main. */
export type ThreadReport =
  | { kind: 'built' }
  /** `task`: the thread, as the system names it. */
  | { kind: 'ready'; port: number; task: string | undefined }
  | { kind: 'drained'; clean: boolean }

/** Supervisor to a service process. */
export type ProcessCommand =
  /** `isHeld`: lines of its log wait until the table of the start is shown. */
  | { kind: 'start'; services: string; name: string; config: ServiceConfig; isHeld: boolean }
  | { kind: 'shown' }
  | { kind: 'stop' }
  | { kind: 'ask' }

/** A service process to its supervisor. */
export type ProcessReport =
  | { kind: 'ready'; url: string; threads: number; notes: readonly string[] }
  | { kind: 'failed'; code: string; message: string }
  | { kind: 'alive' }

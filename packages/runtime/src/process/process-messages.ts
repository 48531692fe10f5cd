import type { MessagePort } from 'node:worker_threads'
import type { BucketMemory } from '../limits/token-buckets.ts'
import type { CommonSettings } from '../settings/settings.ts'
import type { KeyPair } from '../tls/certificate.ts'

/** Settings of one service in the form that processes and threads exchange. */
export type ServiceConfig = CommonSettings & Record<string, unknown>

/** Data that a worker gets when it starts. */
export interface ThreadData {
  /** The module that exports the table of services. */
  readonly services: string
  readonly name: string
  readonly config: ServiceConfig
  readonly index: number
  readonly reusePort: boolean
  /** One counter for each thread, which adds to its own while it is alive. */
  readonly heartbeats: Int32Array
  /** Counters of the bytes that all threads hold for clients. */
  readonly budget: Int32Array
  /** Memory in which all threads count requests, if rate limits apply. */
  readonly limits: BucketMemory | undefined
  /** Words that the sinks of all threads share. */
  readonly sinkWords: Int32Array
  /** Port for calls to and from main. */
  readonly bus: MessagePort
}

/**
 * Calls of the runtime itself, on the same channel as those of a service: main returns the metrics of all threads, a
 * thread its own.
 */
export const SCRAPE_CALL = 'runtime:scrape'
export const COLLECT_CALL = 'runtime:collect'
/** Main sends a new certificate to its threads. */
export const RENEW_CALL = 'runtime:renew'

/** From main to a serving thread. */
export type ThreadCommand =
  /** Sent when main has opened its data. The thread loads its code before that. */
  | { kind: 'begin'; shared: unknown; port: number; certificate: KeyPair | undefined }
  | { kind: 'listen' }
  | { kind: 'drain'; timeout: number }

/** From a serving thread to main. */
export type ThreadReport =
  | { kind: 'built' }
  /** `task`: name of the thread in the system. */
  | { kind: 'ready'; port: number; task: string | undefined }
  | { kind: 'drained'; clean: boolean }

/** From the supervisor to a service process. */
export type ProcessCommand =
  /** `isHeld`: true if log lines wait until the table of the start is printed. */
  | { kind: 'start'; services: string; name: string; config: ServiceConfig; isHeld: boolean }
  | { kind: 'shown' }
  | { kind: 'stop' }
  | { kind: 'ask' }

/** From a service process to its supervisor. */
export type ProcessReport =
  | { kind: 'ready'; url: string; threads: number; notes: readonly string[] }
  | { kind: 'failed'; code: string; message: string }
  | { kind: 'alive' }

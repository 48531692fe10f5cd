import type { MessagePort } from 'node:worker_threads'
import type { BucketMemory } from '../limits/token-buckets.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import type { KeyPair } from '../tls/certificate.ts'

/** Data that a worker gets when it starts. */
export interface ThreadData {
  /** The module that exports the table of services. */
  readonly services: string
  readonly name: string
  readonly config: ServiceConfig
  readonly index: number
  readonly reusePort: boolean
  /** One counter for each thread. A thread adds to its own counter while its event loop runs. */
  readonly heartbeats: Int32Array
  /** Counters of the bytes that all threads hold for clients, by index of the thread. */
  readonly budget: Int32Array
  /** Memory in which all threads count requests, if rate limits apply. */
  readonly limits: BucketMemory | undefined
  /** Memory that the line sinks of all threads share. */
  readonly sinkWords: Int32Array
  /** Port for calls to and from main. */
  readonly bus: MessagePort
}

// Calls of the runtime itself, on the same channel as those of a service.

/** From a thread to main: returns the metrics of all threads. */
export const SCRAPE_CALL = 'runtime:scrape'
/** From main to all threads: each returns its own metrics. */
export const COLLECT_CALL = 'runtime:collect'
/** From main to all threads: sends a new certificate. */
export const RENEW_CALL = 'runtime:renew'

/** Times of a drain (ms). */
export interface DrainTimes {
  /**
   * Time in which the thread still accepts connections, and each reply ends its connection. Clients that send a request
   * in this time never see a connection break: the connections that remain are idle.
   */
  readonly grace: number
  /** Time from the beginning of the drain after which the remaining requests are cut off. */
  readonly timeout: number
}

/** From main to a serving thread. */
export type ThreadCommand =
  /** Sent when main has opened its data. The thread loads its code before that. */
  | {
      kind: 'begin'
      shared: unknown
      port: number
      /** Descriptor of the listening socket, if the supervisor holds it. */
      listener: number | undefined
      certificate: KeyPair | undefined
    }
  | { kind: 'listen' }
  | { kind: 'drain'; times: DrainTimes }

/** From a serving thread to main. */
export type ThreadReport =
  | { kind: 'loaded' }
  | { kind: 'built' }
  /** `task`: path of the thread below `/proc`; undefined if the system has none. */
  | { kind: 'ready'; port: number; task: string | undefined }
  | { kind: 'drained'; clean: boolean }

/** From the supervisor to a service process. */
export type ProcessCommand =
  /**
   * `holdsLogLines`: true if log lines wait until the table of running services is printed. `isSuccessor`: true if the
   * process must load its code, report `loaded`, and wait for `open`, because its predecessor still has the data open.
   */
  | {
      kind: 'start'
      services: string
      name: string
      config: ServiceConfig
      holdsLogLines: boolean
      hasListeners: boolean
      isSuccessor: boolean
    }
  /** The predecessor has closed its data. */
  | { kind: 'open' }
  /** The reply to `getListener`, with the handle of the listening socket. */
  | { kind: 'listener'; index: number }
  /** The table is printed: log lines may follow it. */
  | { kind: 'tablePrinted' }
  /** `grace`: time in which the process still accepts connections (ms). */
  | { kind: 'stop'; grace: number }
  /** The process replies with `alive`, unless its main thread is blocked. */
  | { kind: 'checkAlive' }

/** From a service process to its supervisor. */
export type ProcessReport =
  | { kind: 'ready'; url: string; threads: number; notes: readonly string[] }
  | { kind: 'failed'; code: string; message: string }
  | { kind: 'alive' }
  /** A successor has loaded its code. */
  | { kind: 'loaded' }
  /** All requests are complete, and the data is closed. The process exits. */
  | { kind: 'closed' }
  /** Requests the listening socket of a thread. */
  | { kind: 'getListener'; index: number }

import type { Logger } from 'pino'
import type { BucketMemory } from '../../limits/token-buckets.ts'
import type { Budget } from '../../memory/budget.ts'
import type { Registry } from '../../metrics/prom-client.ts'
import type { CommonSettings } from '../../settings/settings.ts'
import type { KeyPair } from '../../tls/certificate.ts'
import type { Tracer } from '../../tracing/tracer.ts'
import type { Lifecycle } from '../lifecycle.ts'

/** The serving thread of an app: everything that `createApp` needs of it. */
export interface AppHost {
  readonly config: CommonSettings
  readonly lifecycle: Lifecycle
  readonly log: Logger
  /** Bytes that the process may hold for its clients. All threads share them. */
  readonly budget: Budget
  /** Memory in which all threads count requests. Undefined if no client is limited. */
  readonly limits: BucketMemory | undefined
  /** Certificate at the start of the thread. Undefined if the service does not use TLS. */
  readonly certificate: KeyPair | undefined
  /** Creates spans. Undefined if tracing is off. */
  readonly tracer: Tracer | undefined
  /** Registry for the metrics of this thread. `GET /metrics` merges those of all threads. */
  readonly registry: Registry
  /** Returns the metrics of all threads and of main in the Prometheus text format. */
  scrape(): Promise<string>
  /**
   * Returns a consistent copy of all data of the service.
   * @throws Problem `NO_DATA`, `LOG_UNAVAILABLE`, `TOO_MANY_BACKUPS`
   */
  backup(): Promise<AsyncIterable<Buffer>>
}

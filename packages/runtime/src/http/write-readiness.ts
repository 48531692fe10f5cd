import type { Problem } from '../errors/problems.ts'

/** Reason why a service takes no writes at present, although it serves reads. */
export interface WriteFault {
  readonly code: string
  /** One sentence for operators. */
  readonly detail: string
  /** Start of the outage (ISO 8601). */
  readonly since: string
}

/** Readiness of a service whose writes depend on another system, such as the log of a cluster. */
export interface WriteReadiness {
  /** Undefined if the service takes writes. */
  getWriteFault(): WriteFault | undefined
  /** Returns the reason why the service has nothing to read yet. All its requests are then refused. */
  getReadFault(): Problem | undefined
  /** Resolves once `getReadFault` returns undefined. */
  waitUntilReadable(): Promise<void>
}

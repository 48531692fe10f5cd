import type { Logger } from 'pino'
import type { AuditChange } from '../hot-route.ts'
import { getTraceFields, type Trace } from '../../trace.ts'

/** A completed change and its author. */
export interface AuditEntry extends AuditChange {
  readonly by: string
  readonly address: string | undefined
  readonly route: string
  readonly trace: Trace
}

/** Writes the log line of one entry: a change that cannot be undone, or a backup. */
export type Audit = (entry: AuditEntry) => void

export const createAudit =
  (log: Logger): Audit =>
  ({ trace, ...fields }) =>
    log.info({ ...getTraceFields(trace), ...fields }, 'audit')

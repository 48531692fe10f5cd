import type { Logger } from 'pino'
import type { AuditChange } from '../server/hot-route.ts'
import { getTraceFields, type Trace } from '../trace.ts'

/** A change that was made, and by whom. */
export interface AuditEntry extends AuditChange {
  readonly by: string
  readonly address: string | undefined
  readonly route: string
  readonly trace: Trace
}

/** Writes a line for each change that cannot be taken back. */
export type Audit = (entry: AuditEntry) => void

export const createAudit =
  (log: Logger): Audit =>
  ({ trace, ...fields }) =>
    log.info({ ...getTraceFields(trace), ...fields }, 'audit')

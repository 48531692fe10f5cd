import type { Logger } from 'pino'
import type { Change } from '../door/hot-route.ts'
import { traceFields, type Trace } from '../trace.ts'

/** A change that was made, and by whom. */
export interface Made extends Change {
  readonly by: string
  readonly address: string | undefined
  readonly route: string
  readonly trace: Trace
}

/** Writes a line for each change that cannot be taken back. */
export type Audit = (made: Made) => void

export const createAudit =
  (log: Logger): Audit =>
  ({ trace, ...told }) =>
    log.info({ ...traceFields(trace), ...told }, 'audit')

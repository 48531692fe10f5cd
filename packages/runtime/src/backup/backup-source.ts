import type { Level } from 'level'

/** The data of a service, as the main thread has it. */
export interface BackupSource {
  readonly service: string
  /** Version of the data layout. */
  readonly format: number
  readonly db: Pick<Level<any, any>, 'iterator'>
}

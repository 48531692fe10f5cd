import type { ClassicLevel } from 'classic-level'

/** The data of a service, as the main thread has it. */
export interface BackupSource {
  readonly service: string
  /** Version of the data layout. */
  readonly format: number
  readonly db: Pick<ClassicLevel<any, any>, 'iterator'>
}

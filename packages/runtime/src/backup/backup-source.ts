import type { ClassicLevel } from 'classic-level'

/** What a service keeps: as main has it. */
export interface BackupSource {
  readonly service: string
  /** The version of its layout. */
  readonly format: number
  readonly db: Pick<ClassicLevel<any, any>, 'iterator'>
}

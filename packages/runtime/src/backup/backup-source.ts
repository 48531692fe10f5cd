import type { Level } from 'level'
import type { BackupPosition } from './backup-format.ts'

/** The data of a service, as the main thread has it. */
export type BackupSource = DatabaseSource | SnapshotSource

/** The database of a standalone service. */
export interface DatabaseSource {
  readonly service: string
  /** Version of the data layout. */
  readonly format: number
  readonly db: Pick<Level<any, any>, 'iterator'>
}

/** The state machine of a cluster node. */
export interface SnapshotSource {
  readonly service: string
  /**
   * Begins a consistent snapshot of the state.
   * @throws Problem `NO_DATA` if the state is empty, `LOG_UNAVAILABLE` if the node has not loaded it yet
   */
  openSnapshot(): Promise<BackupSnapshot>
}

export interface BackupSnapshot {
  readonly position: BackupPosition
  readonly chunks: AsyncGenerator<Buffer, void>
}

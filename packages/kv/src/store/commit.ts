import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { ClassicLevel } from 'classic-level'
import type { Gate } from './gate.ts'
import type { Write } from './store.ts'
import type { Stripes } from './stripes.ts'

export type Level = ClassicLevel<Buffer, Buffer>
export type KvLevel = SharedLevel<Buffer, Buffer>

export interface CommitOptions {
  readonly level: KvLevel
  readonly gate: Gate
  /** Nothing where this thread is the only one that writes. */
  readonly stripes?: Stripes
  /** Told of every batch that LevelDB has written: of how many writes it was. */
  onCommit(writes: number): void
}

/** How writes that have come become batches of LevelDB. */
export interface Commit {
  /** Resolves with whether the condition held. `bytes` leave the gate when it has settled. */
  submit(write: Write, bytes: number): Promise<boolean>
  /** Resolves once nothing is being written. */
  idle(): Promise<void>
}

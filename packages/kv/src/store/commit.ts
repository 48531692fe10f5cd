import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { ClassicLevel } from 'classic-level'
import type { Recorder } from '../watch/recorder.ts'
import type { Expiring } from './expiries.ts'
import type { Gate } from './gate.ts'
import type { Revisions } from './revisions.ts'
import type { Answer, Write } from './store.ts'
import type { Stripes } from './stripes.ts'

export type Level = ClassicLevel<Buffer, Buffer>
export type KvLevel = SharedLevel<Buffer, Buffer>

export interface CommitOptions {
  readonly level: KvLevel
  readonly gate: Gate
  readonly revisions: Revisions
  /** Nothing where this thread is the only one that writes. */
  readonly stripes?: Stripes
  /** Told what was written under which revisions. */
  readonly recorder: Recorder
  readonly expiring: Expiring
  /** Told of every batch that LevelDB has written: of how many writes it was. */
  onCommit(writes: number): void
}

/** How writes that have come become batches of LevelDB. */
export interface Commit {
  /** True if writes take effect in the order of submission. */
  readonly keepsOrder: boolean
  /** Resolves with what `answer` makes of the write's revision. `bytes` leave the gate when it has settled. */
  submit<T>(write: Write, bytes: number, answer: Answer<T>): Promise<T>
  /** Resolves once what was submitted before is written, or is not. */
  settled(): Promise<void>
  /** Resolves once nothing is being written. */
  idle(): Promise<void>
}

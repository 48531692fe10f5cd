import type { LevelShare } from '@influencer-stats/runtime/level-health'

/** What a thread is started with. */
export interface Shared {
  /** Its part in the database, where there is one. */
  readonly share?: LevelShare
  /** What numbers writes. */
  readonly revisions: SharedArrayBuffer
  /** The locks of keys and this thread's number among their owners, where several threads may write. */
  readonly stripes?: { readonly memory: SharedArrayBuffer; readonly owner: number }
}

/** What threads ask of main. */
export type ToMain = {
  /** Reserve more revisions. */
  reserve(): void
}

import type { VideoNumbers } from '../core/numbers.ts'
import type { Usage } from '../core/pace.ts'
import type { Collection, SnapshotRow, VideoRow } from './state.ts'

/** The kind of the log's entries that are changes: JSON. */
export const CHANGE = 1

/** What a call has given. */
export interface Asked {
  readonly ids: readonly string[]
  readonly found: readonly VideoNumbers[]
  /** When it was made (ms since 1970). */
  readonly asOf: number
  /** How long ago that was (ms), by the poller's own clock: that of another machine may be apart. */
  readonly age: number
}

/** What an entry of the log says. Changes of collections are any node's; all else is the poller's, but for `wanted`. */
export type Change =
  /** `before`: the revision that it replaces, and nothing else. */
  | { readonly type: 'put'; readonly collection: Collection; readonly before?: number }
  | { readonly type: 'delete'; readonly id: string; readonly before?: number }
  | { readonly type: 'snapshots'; readonly rows: readonly SnapshotRow[] }
  | { readonly type: 'videos'; readonly rows: readonly VideoRow[] }
  | { readonly type: 'deleteVideos'; readonly ids: readonly string[] }
  | { readonly type: 'deletePoints'; readonly id: string; readonly times: readonly number[] }
  | { readonly type: 'usage'; readonly usage: Usage }
  /** Somebody waits for the first numbers of a collection. Nothing is kept of it. */
  | { readonly type: 'wanted'; readonly id: string }
  /** What all nodes tell from now on. Nothing is kept of it. */
  | ({ readonly type: 'asked' } & Asked)
  /** First numbers of these videos could not be had. Nothing is kept of it. */
  | { readonly type: 'failed'; readonly ids: readonly string[]; readonly detail: string }

export const encodeChange = (change: Change): Buffer => Buffer.from(JSON.stringify(change))

export const decodeChange = (body: Buffer): Change => JSON.parse(body.toString())

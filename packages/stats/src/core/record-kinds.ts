import type { TrashedCollection } from './campaign.ts'
import type { Feed } from './follow/feed.ts'
import type { ChannelCounts, ChannelDetails } from './received/channel-details.ts'
import type { Post, PostNumbers } from './posts/post.ts'

/** Properties of a kind of records. */
export interface RecordKindProperties {
  /** True if the values come from YouTube: they belong to a source, and only the poller writes them. */
  readonly hasSource?: true
  /** True if a write is synced to the disk before it is acknowledged. */
  readonly isDurable?: true
  /**
   * True if keys begin with the id of a collection and `/`: the records are stored only while the collection exists, and
   * deleted with it.
   */
  readonly isOfCollection?: true
}

/**
 * Kinds of records: named rows of the state beside collections, numbers and details. Times in keys are ms since 1970 with
 * 16 digits (`at16`).
 */
export const RECORD_KINDS = {
  /** A channel. Key: its id. */
  channel: { hasSource: true },
  /** Counts of a channel over time. Key: channel/at16. */
  'channel-point': { hasSource: true },
  /** Newest uploads of a playlist, with their ETag. Key: id of the playlist. */
  feed: { hasSource: true },
  /** A post of another platform. Key: collection/post. */
  post: { isDurable: true, isOfCollection: true },
  /** Reported numbers of a post. Key: collection/post/at16. */
  'post-numbers': { isDurable: true, isOfCollection: true },
  /** A deleted collection that can be restored. Key: its id. Only `trash`, `restore`, `put` and `delete` write it. */
  trash: { isDurable: true },
} as const satisfies Record<string, RecordKindProperties>

export type RecordKind = keyof typeof RECORD_KINDS

/** Types of the values. Kinds whose values have no type yet have any object. */
export interface RecordValues {
  readonly channel: ChannelDetails
  readonly 'channel-point': ChannelCounts
  readonly feed: Feed
  readonly post: Post
  readonly 'post-numbers': PostNumbers
  readonly trash: TrashedCollection
}

/**
 * A row of a kind. Of two records of one key, an import keeps the one with the later `revision` (us) or `asOf` (ms) of
 * its value, if values of this kind have one of them.
 */
export interface StatsRecord<Kind extends RecordKind = RecordKind> {
  readonly kind: Kind
  /** Printable ASCII characters without spaces and `!`; parts are joined with `/`. */
  readonly key: string
  readonly value: RecordValues[Kind]
}

/** A write of a record. Without a value it deletes the record. */
export interface RecordChange {
  readonly kind: RecordKind
  readonly key: string
  readonly value?: object | undefined
  /**
   * Revision of the value that it replaces; 0 if there must be none. In a cluster another node may have replaced that
   * value: then nothing is written. The other states have only one writer, which need not check this.
   */
  readonly before?: number | undefined
}

/** Changes of records, and the result for the caller. */
export interface RecordEdit<T> {
  readonly changes: readonly RecordChange[]
  readonly result: T
}

/** Range of keys of one kind. */
export interface RecordKeyRange {
  /** Beginning of all keys, which are longer. */
  readonly prefix?: string
  /** Only keys after this one. */
  readonly after?: string
  /** Only keys up to this one, inclusive. */
  readonly until?: string
}

export interface RecordRange extends RecordKeyRange {
  /** Maximum number of records. */
  readonly limit: number
}

const properties: Record<RecordKind, RecordKindProperties> = RECORD_KINDS
export const RECORD_KIND_NAMES = Object.keys(RECORD_KINDS) as RecordKind[]

/** Pattern of a key. */
export const RECORD_KEY_PATTERN = '^["-~]{1,512}$'

/** Greater than every character of a key. */
export const KEY_END = '\x7f'

export const isRecordKind = (kind: string): kind is RecordKind => Object.hasOwn(RECORD_KINDS, kind)
export const hasSource = (kind: RecordKind): boolean => properties[kind].hasSource === true
export const isDurable = (kind: RecordKind): boolean => properties[kind].isDurable === true

/** Kinds whose values come from YouTube. */
export const SOURCE_KINDS: readonly RecordKind[] = RECORD_KIND_NAMES.filter(hasSource)
/** Kinds whose records are deleted with a collection. */
export const COLLECTION_KINDS: readonly RecordKind[] = RECORD_KIND_NAMES.filter(
  (kind) => properties[kind].isOfCollection,
)
/** Kinds that a line of an export may have. A deleted collection is exported as a collection. */
export const EXPORTED_KINDS: readonly RecordKind[] = RECORD_KIND_NAMES.filter((kind) => kind !== 'trash')

/** True if a key is in a range, apart from its limit. */
export const isInRange = (key: string, { prefix = '', after, until }: RecordKeyRange): boolean =>
  key.length > prefix.length &&
  key.startsWith(prefix) &&
  (after === undefined || key > after) &&
  (until === undefined || key <= until)

/** Returns the collections that must exist so that records can be stored. */
export function getCollectionIds(changes: readonly RecordChange[]): string[] {
  const stored = changes.filter(({ kind, value }) => properties[kind].isOfCollection && value !== undefined)
  return [...new Set(stored.map(({ key }) => key.split('/', 1)[0]!))]
}

/** True if an imported value replaces the stored one. */
export function replacesRecord(value: object, stored: object | undefined): boolean {
  if (!stored) return true
  const [next, last] = [getRecordTime(value), getRecordTime(stored)]
  return next === undefined || last === undefined || next > last
}

const getRecordTime = (value: { readonly revision?: number; readonly asOf?: number }): number | undefined =>
  value.revision ?? value.asOf

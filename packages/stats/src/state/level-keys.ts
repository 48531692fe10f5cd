import { hasSource, KEY_END, type RecordKind, type RecordKeyRange } from '../core/record-kinds.ts'

// Keys: c!<id> a collection; usage, the used quota; sources, the sources of the numbers; log, the log position in the
// database of a cluster node. Keys of a source: s!<id> a collection's last numbers; h!<id>!<time> a point of its
// history; h!:<id>!<time> a point of a video's history; v!<id> a video's details; r!<kind>!<key> a record. The first
// source has these keys without a prefix; the second has the prefix @1!, and so on, so that numbers of different sources
// never mix. Records of kinds without a source have no prefix. An id contains no "!"; '"' is the character after it, and
// "~" sorts after every character of a time.
export const toCollectionKey = (id: string) => `c!${id}`
export const USAGE_KEY = 'usage'
export const SOURCES_KEY = 'sources'

/** Keys after `gt` and before `lt`, both exclusive. */
export interface StatsKeyRange {
  readonly gt: string
  readonly lt: string
}

/** Keys of the data of one source. */
export class SourceKeys {
  readonly #prefix: string

  /** @param position position of the source in the list of the state */
  constructor(position: number) {
    this.#prefix = position === 0 ? '' : `@${position}!`
  }

  snapshot = (id: string) => `${this.#prefix}s!${id}`
  video = (id: string) => `${this.#prefix}v!${id}`
  point = (id: string, at: number) => `${this.#prefix}h!${id}!${String(Math.max(0, at)).padStart(16, '0')}`

  record = (kind: RecordKind, key: string) => `${this.#prefix}r!${kind}!${key}`
  /** Range of the records of a kind. */
  records(kind: RecordKind, { prefix = '', after = prefix, until }: RecordKeyRange = {}): StatsKeyRange {
    const end = prefix + KEY_END
    return {
      gt: this.record(kind, after > prefix ? after : prefix),
      lt: this.record(kind, until === undefined || until > end ? end : `${until}\0`),
    }
  }
  /** Range of all points of a history. */
  history = (id: string): StatsKeyRange => ({ gt: `${this.#prefix}h!${id}!`, lt: `${this.#prefix}h!${id}!~` })
  /** Range of the videos after an id. */
  videosAfter = (id: string): StatsKeyRange => ({ gt: this.video(id), lt: `${this.#prefix}v"` })
  allSnapshots = (): StatsKeyRange => ({ gt: `${this.#prefix}s!`, lt: `${this.#prefix}s"` })
  allPoints = (): StatsKeyRange => ({ gt: `${this.#prefix}h!`, lt: `${this.#prefix}h"` })
}

const cachedKeys: SourceKeys[] = []

export const getSourceKeys = (position: number): SourceKeys => (cachedKeys[position] ??= new SourceKeys(position))

/** Returns the keys of every source. If none is recorded yet, it returns the keys of the first source. */
export const getAllKeys = ({ names }: { readonly names: readonly string[] }): SourceKeys[] =>
  Array.from({ length: Math.max(1, names.length) }, (_, position) => getSourceKeys(position))

/** Returns the keys of a kind of records. @param keys those of the current source */
export const getRecordKeys = (kind: RecordKind, keys: SourceKeys): SourceKeys =>
  hasSource(kind) ? keys : getSourceKeys(0)

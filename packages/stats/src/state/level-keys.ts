// c!<id> a collection, usage the quota used, sources whose numbers there are; in the base of a node of many, log how far it is.
// Of a source: s!<id> a collection's last numbers, h!<id>!<time> a point of its history, h!:<id>!<time> one of a video's,
// v!<id> what is known of a video besides. The first source has these keys as they are; the second has them behind @1!, and
// so on: numbers of different sources never meet.
// An id has no "!"; '"' is the character after it, and "~" sorts after every character of a time.
export const toCollectionKey = (id: string) => `c!${id}`
export const USAGE_KEY = 'usage'
export const SOURCES_KEY = 'sources'

/** Keys from `gt` on, without it, and before `lt`. */
export interface StatsKeyRange {
  readonly gt: string
  readonly lt: string
}

/** The keys of what comes from one source. */
export class SourceKeys {
  readonly #prefix: string

  /** @param position of the source among those of the state */
  constructor(position: number) {
    this.#prefix = position === 0 ? '' : `@${position}!`
  }

  snapshot = (id: string) => `${this.#prefix}s!${id}`
  video = (id: string) => `${this.#prefix}v!${id}`
  point = (id: string, at: number) => `${this.#prefix}h!${id}!${String(Math.max(0, at)).padStart(16, '0')}`

  /** All points of a history. */
  history = (id: string): StatsKeyRange => ({ gt: `${this.#prefix}h!${id}!`, lt: `${this.#prefix}h!${id}!~` })
  /** The videos after an id. */
  videosAfter = (id: string): StatsKeyRange => ({ gt: this.video(id), lt: `${this.#prefix}v"` })
  allSnapshots = (): StatsKeyRange => ({ gt: `${this.#prefix}s!`, lt: `${this.#prefix}s"` })
  allPoints = (): StatsKeyRange => ({ gt: `${this.#prefix}h!`, lt: `${this.#prefix}h"` })
}

const cachedKeys: SourceKeys[] = []

export const getSourceKeys = (position: number): SourceKeys => (cachedKeys[position] ??= new SourceKeys(position))

/** Of every source; of the first also while none is recorded. */
export const getAllKeys = ({ names }: { readonly names: readonly string[] }): SourceKeys[] =>
  Array.from({ length: Math.max(1, names.length) }, (_, position) => getSourceKeys(position))

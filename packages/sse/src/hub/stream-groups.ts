import { PieceList } from '@influencer-stats/runtime/piece-list'
import { hash } from 'node:crypto'
import { copySelectors, toSelectorsKey, type Selectors } from '../core/selectors.ts'
import { TopicIndex } from '../core/topic-index.ts'
import { StreamGroup } from '../fanout/stream-group.ts'
import type { StreamRequest } from './stream-request.ts'

// Maximum length of a group's key (characters); a hash has 32.
const MAX_KEY_LENGTH = 32

/** Groups of streams that receive the same bytes, by key and by topic. */
export class StreamGroups {
  /** Pending events of every group that has none. */
  readonly emptyPieces = new PieceList()
  readonly #groups = new Map<string, StreamGroup>()
  readonly #index = new TopicIndex<StreamGroup>()

  values(): IterableIterator<StreamGroup> {
    return this.#groups.values()
  }

  /** False if too many different patterns have the same literal start as a pattern of these selectors. */
  canAdd(selectors: Selectors): boolean {
    return this.#index.canAdd(selectors)
  }

  /** Calls `onFound` for the groups that select a topic. */
  find(topic: string, onFound: (group: StreamGroup) => void): void {
    this.#index.find(topic, onFound)
  }

  getOrCreate({ encoder, selectors, reader }: StreamRequest): StreamGroup {
    const name = `${encoder.name} ${reader.key} ${toSelectorsKey(selectors)}`
    // A hash takes less memory. Two names with the same hash do not occur in practice.
    const key = name.length > MAX_KEY_LENGTH ? hash('sha256', name, 'buffer').toString('latin1') : name
    const existing = this.#groups.get(key)
    if (existing) return existing
    const group = new StreamGroup(key, {
      encoder,
      selectors: copySelectors(selectors),
      reader,
      pending: this.emptyPieces,
    })
    this.#groups.set(key, group)
    this.#index.add(group.selectors, group)
    return group
  }

  delete(group: StreamGroup): void {
    this.#groups.delete(group.key)
    this.#index.delete(group.selectors, group)
  }
}

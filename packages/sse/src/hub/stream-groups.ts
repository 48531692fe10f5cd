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

  /** False if the client then has too many patterns with the same literal start. */
  canAdd(selectors: Selectors, client: string): boolean {
    return this.#index.canAdd(selectors, client)
  }

  /** Counts the patterns of a group for a stream of a client. */
  countClient({ selectors }: StreamGroup, client: string): void {
    this.#index.countClient(selectors, client)
  }

  /** Reverts `countClient` when the stream ends. */
  discountClient({ selectors }: StreamGroup, client: string): void {
    this.#index.discountClient(selectors, client)
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

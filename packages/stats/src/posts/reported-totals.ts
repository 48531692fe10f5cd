import { retry } from '@influencer-stats/runtime/async/retry'
import { Serial } from '@influencer-stats/runtime/async/serial'
import type { Post } from '../core/posts/post.ts'
import { MAX_POSTS, parsePostKey } from '../core/posts/post.ts'
import { sumPosts, type Reported } from '../core/posts/reported.ts'
import type { Collection, StatsState } from '../state/stats-state.ts'

/** Sums of the posts of a collection; undefined if it has none. */
export type ReportedUpdate = readonly [id: string, reported: Reported | undefined]

const PAGE_SIZE = 1_000

/**
 * The reported sums of all collections with posts, also of those in the trash, on one thread. Reads of statistics look
 * them up here; the state is read only at the start and after changes.
 */
export class ReportedTotals {
  readonly #totals = new Map<string, Reported>()
  readonly #reloads = new Serial()
  readonly #closing = new AbortController()
  /** Called after changes; a reload waits for the result. */
  onChange: (updates: readonly ReportedUpdate[]) => unknown = () => {}

  get = (id: string): Reported | undefined => this.#totals.get(id)
  getAll = (): ReportedUpdate[] => [...this.#totals]

  apply(updates: readonly ReportedUpdate[]): unknown {
    for (const [id, reported] of updates) {
      if (reported) this.#totals.set(id, reported)
      else this.#totals.delete(id)
    }
    return this.onChange(updates)
  }

  /** Reads the posts of all collections. */
  async load(state: PostState): Promise<void> {
    const byCollection = new Map<string, Post[]>()
    for (let after = '', page; (page = await state.listRecords('post', { after, limit: PAGE_SIZE })).length > 0;) {
      for (const { key, value } of page) {
        const { collection } = parsePostKey(key)
        if (!byCollection.get(collection)?.push(value)) byCollection.set(collection, [value])
      }
      after = page.at(-1)!.key
    }
    for (const [id, posts] of byCollection) this.#totals.set(id, sumPosts(posts)!)
  }

  /** Reads the posts of these collections after a change. If the state cannot be read, it is read again later. */
  async reload(state: PostState, ids: readonly string[]): Promise<void> {
    const read = () => this.#reloads.run(() => this.#read(state, ids))
    try {
      await read()
    } catch {
      // While the state is unavailable, it reports that itself.
      void retry(read, { signal: this.#closing.signal })
    }
  }

  /** Forgets the posts of the deleted collection that a new one replaces, at once. Returns what `onChange` does. */
  onCollectionChange(collection: Collection | undefined): unknown {
    const isReplaced = collection && collection.created === collection.revision && this.#totals.has(collection.id)
    return isReplaced ? this.apply([[collection.id, undefined]]) : undefined
  }

  close(): void {
    this.#closing.abort()
  }

  async #read(state: PostState, ids: readonly string[]): Promise<void> {
    const updates: ReportedUpdate[] = []
    for (const id of ids) {
      const posts = await state.listRecords('post', { prefix: `${id}/`, limit: MAX_RELOADED_POSTS })
      updates.push([id, sumPosts(posts.map(({ value }) => value))])
    }
    await this.apply(updates)
  }
}

type PostState = Pick<StatsState, 'listRecords'>

/** Two nodes that add posts at the same time may exceed the limit of a collection. */
const MAX_RELOADED_POSTS = 2 * MAX_POSTS

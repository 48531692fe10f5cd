import type { Lease } from '@influencer-stats/log/log'
import type { Poller } from '../refresh/poller.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import { isCollectionLine, isRecordLine } from '../core/export-line.ts'
import type { RecordChange } from '../core/record-kinds.ts'
import { listPostCollections, type PublishedPosts } from '../posts/published-posts.ts'
import type { StatsChange } from '../state/stats-change.ts'
import type { ForwardedLookups } from './forwarded-lookups.ts'

/** The poller and the quota meter of a node, and the callbacks that begin and end its calls to YouTube. */
export interface PollingControl {
  readonly poller: Pick<
    Poller,
    'onCollectionChange' | 'applyImport' | 'applyFetched' | 'applyFailure' | 'changeSource' | 'reads'
  >
  readonly meter: QuotaMeter
  readonly posts?: PublishedPosts
  readonly lookups?: Pick<ForwardedLookups, 'answer' | 'receive'>
  /** Called when this node begins to call YouTube. */
  begin(): Promise<void>
  /** Called when this node stops calling YouTube. */
  end(): Promise<void>
}

/**
 * Passes the changes of the log, in order, to a node's poller. The poller calls YouTube while this node holds the
 * lease.
 */
export class Follower {
  #lease: Lease | undefined
  /** Changes that arrive while the poller loads the stored data. */
  #earlyChanges: StatsChange[] = []
  #polling: PollingControl | undefined
  readonly #pendingPublish = new Set<Promise<void>>()
  #running: Promise<void> = Promise.resolve()
  #switching: Promise<void> = Promise.resolve()

  onChanges(changes: readonly StatsChange[]): void {
    for (const change of changes) {
      if (this.#polling) this.#dispatch(change, this.#polling)
      // Before `setLease` no change needs to be queued: the poller loads the database later, when it has these changes.
      else if (this.#lease) this.#earlyChanges.push(change)
    }
  }

  /** Sets the lease. From now on every change is dispatched or queued. */
  setLease(lease: Lease): void {
    this.#lease = lease
  }

  join(polling: PollingControl): void {
    this.#attach(polling)
    this.#running = this.#run(polling, this.#lease!)
  }

  /** Resolves once every thread has all changes that were dispatched before. */
  async waitUntilPublished(): Promise<void> {
    await this.#waitForSwitch()
    await Promise.all(this.#pendingPublish)
  }

  /** Resolves once the lease is closed and this node no longer calls YouTube. */
  async waitUntilEnded(): Promise<void> {
    await this.#running
    await this.#waitForSwitch()
  }

  /** Resolves once the numbers of the current source are loaded. */
  async #waitForSwitch(): Promise<void> {
    for (let last; last !== this.#switching;) await (last = this.#switching)
  }

  #attach(polling: PollingControl): void {
    this.#polling = polling
    const earlyChanges = this.#earlyChanges
    this.#earlyChanges = []
    this.onChanges(earlyChanges)
  }

  /** Loads the numbers of another source. Changes wait meanwhile, as at the start. */
  async #changeSource(source: string, polling: PollingControl): Promise<void> {
    this.#polling = undefined
    await polling.poller.changeSource(source)
    this.#attach(polling)
  }

  #dispatch(change: StatsChange, polling: PollingControl): void {
    const { poller, meter, posts, lookups } = polling
    switch (change.type) {
      case 'put':
        posts?.onCollectionChange(change.collection)
        return this.#trackPublish(poller.onCollectionChange(change.collection.id, change.collection))
      case 'delete':
        return this.#trackPublish(poller.onCollectionChange(change.id, undefined))
      case 'trash':
        return this.#trackPublish(poller.onCollectionChange(change.collection.id, undefined))
      case 'restore':
        return this.#trackPublish(poller.applyImport([change.collection.id]))
      case 'import':
        for (const line of change.lines) if (line.type === 'usage') meter.raise(line.usage)
        this.#applyPosts(change.lines.filter(isRecordLine), posts)
        return this.#trackPublish(
          poller.applyImport(change.lines.filter(isCollectionLine).map(({ collection }) => collection.id)),
        )
      case 'records':
        return this.#applyPosts(change.rows, posts)
      case 'asked':
        return this.#trackPublish(poller.applyFetched(change))
      case 'failed':
        return this.#trackPublish(poller.applyFailure(change.ids, change.detail, change.outage))
      case 'source':
        this.#switching = this.#changeSource(change.source, polling)
        return
      case 'wanted':
        return poller.reads.request(change.id)
      case 'lookup':
        if (this.#lease?.term !== undefined) void lookups?.answer(change.lookup)
        return
      case 'lookedUp':
        return lookups?.receive(change.reply)
      case 'usage':
        // While this node is the poller, its own count is newer than the one in the log.
        if (this.#lease?.term === undefined) meter.restore(change.usage)
    }
  }

  #applyPosts(rows: readonly Pick<RecordChange, 'kind' | 'key'>[], posts: PublishedPosts | undefined): void {
    const ids = listPostCollections(rows)
    if (posts && ids.length > 0) this.#trackPublish(posts.apply(ids))
  }

  #trackPublish(publishing: Promise<void>): void {
    const pendingPublish = publishing.finally(() => this.#pendingPublish.delete(pendingPublish))
    this.#pendingPublish.add(pendingPublish)
  }

  async #run({ begin, end }: PollingControl, lease: Lease): Promise<void> {
    for (;;) {
      try {
        await lease.waitUntilHeld()
      } catch {
        return
      }
      await this.#waitForSwitch()
      // True if the lease was lost meanwhile.
      if (lease.term === undefined) continue
      await begin()
      await lease.waitUntilLost()
      await end()
    }
  }
}

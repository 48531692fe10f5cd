import type { Lease } from '@influencer-stats/log/log'
import type { Poller } from './poller.ts'
import type { QuotaMeter } from './quota-meter.ts'
import type { StatsChange } from './state/stats-change.ts'

/** What of a node changes with its place among the others. */
export interface PollingControl {
  readonly poller: Pick<
    Poller,
    'onCollectionChange' | 'applyFetched' | 'applyFailure' | 'requestEntry' | 'changeSource'
  >
  readonly meter: QuotaMeter
  /** This node is the one that asks YouTube. */
  begin(): Promise<void>
  /** It is not any more. */
  end(): Promise<void>
}

/** Hands on what the log says, in its order, to a node's poller; and has that ask while this node has the lease. */
export class Follower {
  #lease: Lease | undefined
  /** What is said while the poller loads what is there. */
  #earlyChanges: StatsChange[] = []
  #polling: PollingControl | undefined
  readonly #pendingPublish = new Set<Promise<void>>()
  #running: Promise<void> = Promise.resolve()
  #switching: Promise<void> = Promise.resolve()

  onChanges(changes: readonly StatsChange[]): void {
    for (const change of changes) {
      if (this.#polling) this.#dispatch(change, this.#polling)
      // The base contains all changes before `listen` by the time the poller loads it.
      else if (this.#lease) this.#earlyChanges.push(change)
    }
  }

  /** From now on nothing is missed. */
  setLease(lease: Lease): void {
    this.#lease = lease
  }

  join(polling: PollingControl): void {
    this.#attach(polling)
    this.#running = this.#run(polling, this.#lease!)
  }

  async waitUntilPublished(): Promise<void> {
    await this.#waitForSwitch()
    await Promise.all(this.#pendingPublish)
  }

  /** The lease and the poller are closed. */
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
    const { poller, meter } = polling
    switch (change.type) {
      case 'put':
        return this.#trackPublish(poller.onCollectionChange(change.collection.id, change.collection))
      case 'delete':
        return this.#trackPublish(poller.onCollectionChange(change.id, undefined))
      case 'asked':
        return this.#trackPublish(poller.applyFetched(change))
      case 'failed':
        return this.#trackPublish(poller.applyFailure(change.ids, change.detail, change.outage))
      case 'source':
        this.#switching = this.#changeSource(change.source, polling)
        return
      case 'wanted':
        return poller.requestEntry(change.id)
      case 'usage':
        // The poller has counted on since.
        if (this.#lease?.term === undefined) meter.restore(change.usage)
    }
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
      // The lease was lost meanwhile.
      if (lease.term === undefined) continue
      await begin()
      await lease.waitUntilLost()
      await end()
    }
  }
}

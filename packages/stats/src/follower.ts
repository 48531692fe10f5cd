import type { Lease } from '@influencer-stats/log/log'
import type { Poller } from './poller.ts'
import type { QuotaMeter } from './quota-meter.ts'
import type { Change } from './state/change.ts'

/** What of a node changes with its place among the others. */
export interface Polling {
  readonly poller: Pick<Poller, 'changed' | 'follow' | 'failed' | 'wanted' | 'changeSource'>
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
  #early: Change[] = []
  #polling: Polling | undefined
  readonly #telling = new Set<Promise<void>>()
  #running: Promise<void> = Promise.resolve()
  #switching: Promise<void> = Promise.resolve()

  take(changes: readonly Change[]): void {
    for (const change of changes) {
      if (this.#polling) this.#hand(change, this.#polling)
      // The base contains all changes before `listen` by the time the poller loads it.
      else if (this.#lease) this.#early.push(change)
    }
  }

  /** From now on nothing is missed. */
  listen(lease: Lease): void {
    this.#lease = lease
  }

  join(polling: Polling): void {
    this.#handTo(polling)
    this.#running = this.#run(polling, this.#lease!)
  }

  async told(): Promise<void> {
    await this.#switched()
    await Promise.all(this.#telling)
  }

  /** The lease and the poller are closed. */
  async ended(): Promise<void> {
    await this.#running
    await this.#switched()
  }

  /** Resolves once the numbers of the current source are loaded. */
  async #switched(): Promise<void> {
    for (let last; last !== this.#switching;) await (last = this.#switching)
  }

  #handTo(polling: Polling): void {
    this.#polling = polling
    const early = this.#early
    this.#early = []
    this.take(early)
  }

  /** Loads the numbers of another source. Changes wait meanwhile, as at the start. */
  async #changeSource(source: string, polling: Polling): Promise<void> {
    this.#polling = undefined
    await polling.poller.changeSource(source)
    this.#handTo(polling)
  }

  #hand(change: Change, polling: Polling): void {
    const { poller, meter } = polling
    switch (change.type) {
      case 'put':
        return this.#tell(poller.changed(change.collection.id, change.collection))
      case 'delete':
        return this.#tell(poller.changed(change.id, undefined))
      case 'asked':
        return this.#tell(poller.follow(change))
      case 'failed':
        return this.#tell(poller.failed(change.ids, change.detail, change.outage))
      case 'source':
        this.#switching = this.#changeSource(change.source, polling)
        return
      case 'wanted':
        return poller.wanted(change.id)
      case 'usage':
        // The poller has counted on since.
        if (this.#lease?.term === undefined) meter.restore(change.usage)
    }
  }

  #tell(publishing: Promise<void>): void {
    const telling = publishing.finally(() => this.#telling.delete(telling))
    this.#telling.add(telling)
  }

  async #run({ begin, end }: Polling, lease: Lease): Promise<void> {
    for (;;) {
      try {
        await lease.waitUntilHeld()
      } catch {
        return
      }
      await this.#switched()
      // The lease was lost meanwhile.
      if (lease.term === undefined) continue
      await begin()
      await lease.waitUntilLost()
      await end()
    }
  }
}

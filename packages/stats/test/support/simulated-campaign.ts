import { CollectionsOwner, type CollectionsOwnerOptions } from '../../src/campaigns/collections-owner.ts'
import { createStoredRows } from '../../src/campaigns/overview/overview-source.ts'
import { Overview } from '../../src/campaigns/overview/overview.ts'
import { readResults } from '../../src/campaigns/results-reader.ts'
import { DAY_MS } from '../../src/core/quota-budget.ts'
import type { VideoNumbers } from '../../src/core/video-numbers.ts'
import { ReportedTotals } from '../../src/posts/reported-totals.ts'
import { createMapState } from '../../src/state/map-state.ts'
import type { Collection } from '../../src/state/stats-state.ts'

/** A collection on a clock that the test sets, stored as a poller stores it. */
export class SimulatedCampaign {
  readonly #owner: CollectionsOwner
  readonly #overview: Overview
  #collection: Collection | undefined
  /** Last known numbers, and when they were requested. */
  readonly known = new Map<string, { numbers: VideoNumbers; asOf: number }>()

  constructor(tiers: Partial<Pick<CollectionsOwnerOptions, 'retention' | 'dailyRetention'>> = {}) {
    this.#owner = new CollectionsOwner({ state: createMapState(), retention: 30 * DAY_MS, ...tiers })
    this.#overview = new Overview(
      createStoredRows(this.#owner.state, 'a source', new ReportedTotals()),
      this.#owner.state,
    )
  }

  async edit(videos: readonly string[]): Promise<void> {
    this.#collection = (await this.#owner.change('put', 'c', videos)).collection
    if (this.#isSettled || videos.length === 0) await this.#save(Date.now())
  }

  get #isSettled() {
    return this.#collection!.videos.some((id) => this.known.has(id))
  }

  /** Refreshes, now, the videos in the response. */
  async refresh(found: readonly VideoNumbers[]): Promise<void> {
    for (const numbers of found) this.known.set(numbers.id, { numbers, asOf: Date.now() })
    if (this.#isSettled) await this.#save()
  }

  async #save(since?: number): Promise<void> {
    const { videos: ids } = this.#collection!
    const known = ids.flatMap((id) => this.known.get(id) ?? [])
    const times = ids.length > 0 ? known.map(({ asOf }) => asOf) : [Date.now()]
    const newest = since ?? Math.max(...times)
    const asOf = Math.min(...times)
    await this.#owner.saveSnapshot(this.#collection!, {
      videos: known.map(({ numbers }) => numbers),
      missing: [],
      asOf,
      ...(newest > asOf && { since: newest }),
    })
  }

  /** Growth as an overview reports it. */
  async change() {
    return (await this.#overview.getRow('c', true))!.change!
  }

  results = (from: number, to: number) => readResults(this.#owner.state, 'c', { from, to }, Date.now())
  tidy = () => this.#owner.prune(Date.now())
  history = () => this.#owner.state.getHistory('c', 0, Date.now(), 100_000)
  close = () => this.#owner.close()
}

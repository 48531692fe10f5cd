import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { CampaignSource } from '../../core/campaign.ts'
import type { SourceName } from '../../core/follow/source-name.ts'
import { isLookupAllowed } from '../../core/quota-budget.ts'
import { errors } from '../../errors.ts'
import type { QuotaMeter } from '../../quota/quota-meter.ts'
import type { ChannelName } from '../../youtube/channel-list.ts'
import type { SideCaller } from '../../youtube/side-caller.ts'

/** Time for which a source that was found is cached (ms). */
const CACHE_MS = 600_000
const MAX_CACHED = 1_000

export interface SourceLookupOptions {
  readonly caller: Pick<SideCaller, 'findChannel' | 'findPlaylist'>
  readonly meter: Pick<QuotaMeter, 'remainingQuota'>
  /** Returns the problem of all calls in an outage. */
  getOutage(): Problem | undefined
}

const toChannelName = ({ name, nameKind }: SourceName): ChannelName =>
  nameKind === 'id' ? { id: name } : nameKind === 'user' ? { userName: name } : { handle: `@${name}` }

/** Finds the channel or the playlist that a person entered. Each look-up costs a unit of quota. */
export class SourceLookup {
  readonly #options: SourceLookupOptions
  /** Sources that were found, in the order of insertion: an import repeats the look-ups of its preview. */
  readonly #found = new Map<string, { readonly source: CampaignSource; readonly until: number }>()

  constructor(options: SourceLookupOptions) {
    this.#options = options
  }

  /**
   * Returns the source with its id and its title; undefined if YouTube has no such channel or playlist.
   * @throws Problem `UPSTREAM_UNAVAILABLE` in an outage, and if less than a tenth of the daily budget is left
   */
  async find(source: SourceName): Promise<CampaignSource | undefined> {
    const { caller, meter, getOutage } = this.#options
    const key = JSON.stringify([source.type, source.nameKind, source.name])
    const cached = this.#found.get(key)
    if (cached && cached.until > steadyNow()) return cached.source
    const outage = getOutage()
    if (outage) throw outage
    if (!isLookupAllowed(meter.remainingQuota))
      throw errors.UPSTREAM_UNAVAILABLE('the rest of the daily budget is reserved for the numbers of videos')
    const found =
      source.type === 'channel'
        ? await caller.findChannel(toChannelName(source))
        : await caller.findPlaylist(source.name)
    if (!found) return undefined
    const known = { type: source.type, id: found.id, ...(found.title !== undefined && { title: found.title }) }
    this.#found.delete(key)
    this.#found.set(key, { source: known, until: steadyNow() + CACHE_MS })
    for (const first of this.#found.keys()) {
      if (this.#found.size <= MAX_CACHED) break
      this.#found.delete(first)
    }
    return known
  }
}

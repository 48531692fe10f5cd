import type { Problem } from '@influencer-stats/runtime/problems'
import type { CampaignSource } from '../../core/campaign.ts'
import type { SourceName } from '../../core/follow/source-name.ts'
import { isLookupAllowed } from '../../core/quota-budget.ts'
import { errors } from '../../errors.ts'
import type { QuotaMeter } from '../../quota/quota-meter.ts'
import type { ChannelName } from '../../youtube/channel-list.ts'
import type { SideCaller } from '../../youtube/side-caller.ts'

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

  constructor(options: SourceLookupOptions) {
    this.#options = options
  }

  /**
   * Returns the source with its id and its title; undefined if YouTube has no such channel or playlist.
   * @throws Problem `UPSTREAM_UNAVAILABLE` in an outage, and if less than a tenth of the daily budget is left
   */
  async find(source: SourceName): Promise<CampaignSource | undefined> {
    const { caller, meter, getOutage } = this.#options
    const outage = getOutage()
    if (outage) throw outage
    if (!isLookupAllowed(meter.remainingQuota))
      throw errors.UPSTREAM_UNAVAILABLE('the rest of the daily budget is reserved for the numbers of videos')
    const found =
      source.type === 'channel'
        ? await caller.findChannel(toChannelName(source))
        : await caller.findPlaylist(source.name)
    return found && { type: source.type, id: found.id, ...(found.title !== undefined && { title: found.title }) }
  }
}

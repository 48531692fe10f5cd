import type { CampaignCreator } from '@influencer-stats/stats/client'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { text } from '../../texts/texts.ts'
import { ChannelPicture } from './channel-picture.ts'

type NamedCreator = Pick<CampaignCreator, 'id' | 'title' | 'handle' | 'subscribers' | 'hidesSubscribers' | 'thumbnail'>

export const getCreatorName = ({ title, id }: Pick<NamedCreator, 'title' | 'id'>): string => title ?? id
export const toCreatorPath = (id: string): string => `/creators/${encodeURIComponent(id)}`

/** The number of subscribers, or a word if the channel hides it. Undefined if it is unknown. */
export const formatSubscribers = ({ subscribers, hidesSubscribers }: NamedCreator): string | undefined => {
  if (hidesSubscribers) return text('creators.hidesSubscribers')
  return subscribers === undefined ? undefined : text('creators.subscriberCount', { count: subscribers })
}

/**
 * A creator in a table: a link to its screen, with its handle and subscribers below.
 * @param hasColumn true if a wide screen shows the subscribers in a column
 */
export function CreatorName({ creator, hasColumn = false }: { creator: NamedCreator; hasColumn?: boolean }) {
  const name = getCreatorName(creator)
  const subscribers = formatSubscribers(creator)
  return html`<span class="creator">
    <${ChannelPicture} creator=${creator} name=${name} />
    <span>
      <a class="name" href=${toCreatorPath(creator.id)}><bdi>${name}</bdi></a>
      <span class="quiet below"
        >${creator.handle && html`<bdi>${creator.handle}</bdi>`}${subscribers && html`<span class=${hasColumn ? 'under' : ''}>${subscribers}</span>`}</span
      >
    </span>
  </span>`
}

/** A sum over videos. Without videos there is none, rather than 0. */
export const formatSum = (stats: { readonly videos: number }, value: number): string =>
  stats.videos === 0 ? '–' : formats.count(value)
export const formatRate = (rate: number | undefined): string => (rate === undefined ? '–' : formats.percent(rate))
export const formatMoney = (value: number | undefined, currency: string | undefined): string =>
  value === undefined ? '–' : formats.money(value, currency)

import type { CollectionRow } from '@influencer-stats/stats/client'
import { Component } from 'preact'
import { describeUnread } from '../../core/counts.ts'
import { getTitle } from '../../core/names.ts'
import { TIME_RANGES } from '../../core/time-ranges.ts'
import { html } from '../../html.ts'
import { Clock, GrowthChange, MovingNumber } from '../../parts/cards.ts'
import { Sparkline } from '../../parts/sparkline.ts'
import { formats } from '../../page-state.ts'
import { rich, text } from '../../texts/texts.ts'

interface CampaignRowProps {
  readonly row: CollectionRow
  readonly isChosen: boolean
  /** Position in the list, from 0. */
  readonly index: number
  choose(row: CollectionRow): void
}

/** One campaign in the list. A row renders again only if its data or its checkbox changes. */
export class CampaignRow extends Component<CampaignRowProps> {
  override shouldComponentUpdate({ row, isChosen, index }: CampaignRowProps): boolean {
    return row !== this.props.row || isChosen !== this.props.isChosen || index !== this.props.index
  }

  override render() {
    const { row, isChosen, index, choose } = this.props
    const { id, stats, change, tags = [] } = row
    const title = getTitle(row)
    const growth =
      stats &&
      change &&
      html`<${GrowthChange}
        sum=${stats.impressions}
        growth=${change['24h']}
        measure="impressions"
        window=${TIME_RANGES['24h']}
        isShort=${true}
      />`
    const unread = (stats?.unknown?.length ?? 0) > 0 && html`<span class="unread">${describeUnread(stats!)}</span>`
    const clock = stats && html`<${Clock} at=${stats.asOf} />`
    const asOf = stats?.stale ? rich('list.old', { time: clock }) : clock
    // The row of the headings is row 1.
    return html`<tr aria-rowindex=${index + 2} data-index=${index}>
      <td class="choose">
        <input
          type="checkbox"
          aria-label=${text('list.selectOne', { name: title })}
          checked=${isChosen}
          onChange=${() => choose(row)}
        />
      </td>
      <th scope="row">
        <a class="name" href=${`/campaigns/${encodeURIComponent(id)}`}><bdi>${title}</bdi></a>
        <span class="tags"
          >${tags.map((tag) => html`<a class="tag" key=${tag} href=${`/?tag=${encodeURIComponent(tag)}`}><bdi>${tag}</bdi></a>`)}</span
        >
      </th>
      <td class="number">
        ${stats ? html`<${MovingNumber} value=${stats.impressions} text=${formats.count(stats.impressions)} />${unread}<span class="under">${growth}${stats.stale && html`<span class="stale">${asOf}</span>`}</span>` : '–'}
      </td>
      <td class="number wide">${growth ?? '–'}</td>
      <td class="number wide">${stats ? formats.count(stats.engagements) : '–'}</td>
      <td class="number wide">
        ${stats && stats.impressions > 0 ? formats.percent(stats.engagements / stats.impressions) : '–'}
      </td>
      <td class="wide"><${Sparkline} id=${id} /></td>
      <td class=${`wide number fresh ${stats?.stale ? 'stale' : ''}`}>${stats ? asOf : text('list.noNumbers')}</td>
    </tr>`
  }
}

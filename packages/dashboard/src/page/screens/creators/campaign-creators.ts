import type { CampaignCreator, CollectionRow } from '@influencer-stats/stats/client'
import { useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import { useLast, useLoaded } from '../../hooks.ts'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { Bar } from '../../parts/cards.ts'
import { Dialog, ErrorMessage } from '../../parts/dialog.ts'
import { text } from '../../texts/texts.ts'
import { CreatorName, formatMoney, formatRate, formatSum } from './creator-name.ts'
import { FeeForm } from './fee-form.ts'

interface CampaignCreatorsProps {
  readonly row: CollectionRow
  /** Time of the newest sums. When it changes, the creators are read again. */
  readonly asOf: string | undefined
  readonly canChange: boolean
  reload(): void
}

/** The creators of a campaign with their numbers, fees and costs. */
export function CampaignCreators({ row, asOf, canChange, reload }: CampaignCreatorsProps) {
  const loaded = useLoaded(() => stats.get(row.id, ['creators']), [row.id, row.version], [asOf])
  const shown = useLast(loaded.value)
  const [isEditing, setEditing] = useState(false)
  const creators = shown?.creators ?? []
  const done = () => {
    setEditing(false)
    reload()
  }
  const { cost, currency } = row
  const unattributed = shown?.unattributed
  return html`<section class="panel" aria-label=${text('creators.title')}>
    <div class="panel-head">
      <h2>${text('creators.title')}</h2>
      ${canChange && shown && html`<button onClick=${() => setEditing(true)}>${text('fees.edit')}</button>`}
    </div>
    <${ErrorMessage} text=${loaded.fault} />
    ${cost !== undefined && html`<p class="quiet note">${text('creators.oneCost', { amount: formats.amount(cost, currency) })}</p>`}
    ${creators.length > 0 && html`<${CampaignCreatorTable} creators=${creators} currency=${currency} />`}
    ${row.stats?.reported && creators.some(({ costs }) => costs) && html`<p class="quiet note">${text('creators.costNote')}</p>`}
    ${
      unattributed &&
      html`<p class="quiet note">
        ${text('creators.unattributed', { count: unattributed.videos, views: unattributed.impressions })}
      </p>`
    }
    ${shown && creators.length === 0 && html`<p class="quiet none">${text('creators.noneInCampaign')}</p>`}
    ${isEditing && html`<${Dialog} title=${text('fees.title')} onClose=${() => setEditing(false)}><${FeeForm} row=${shown ?? row} creators=${creators} onDone=${done} /></${Dialog}>`}
  </section>`
}

interface CampaignCreatorTableProps {
  readonly creators: readonly CampaignCreator[]
  readonly currency: string | undefined
}

function CampaignCreatorTable({ creators, currency }: CampaignCreatorTableProps) {
  const hasFees = creators.some(({ fee }) => fee !== undefined)
  return html`<table class="creators">
    <thead>
      <tr>
        <th scope="col">${text('creators.creator')}</th>
        <th scope="col" class="number">${text('measure.views')}</th>
        <th scope="col" class="share-head wide">${text('creators.share')}</th>
        <th scope="col" class="number wide">${text('measure.engagements')}</th>
        <th scope="col" class="number wide">${text('creators.rate')}</th>
        ${
          hasFees &&
          html`<th scope="col" class="number wide">${text('creators.fee')}</th>
            <th scope="col" class="number">${text('creators.perThousand')}</th>
            <th scope="col" class="number wide">${text('creators.perEngagement')}</th>`
        }
      </tr>
    </thead>
    <tbody>
      ${creators.map(
        (creator) =>
          html`<tr key=${creator.id}>
            <th scope="row"><${CreatorName} creator=${creator} /></th>
            <td class="number">${formatSum(creator.stats, creator.stats.impressions)}</td>
            <td class="share-cell wide">
              ${creator.stats.videos > 0 && html`<${Bar} share=${creator.share ?? 0} />`}<span
                >${formatRate(creator.stats.videos > 0 ? creator.share : undefined)}</span
              >
            </td>
            <td class="number wide">${formatSum(creator.stats, creator.stats.engagements)}</td>
            <td class="number wide">${formatRate(creator.rate)}</td>
            ${
              hasFees &&
              html`<td class="number wide">
                  ${creator.fee === undefined ? '–' : formats.amount(creator.fee, currency)}
                </td>
                <td class="number">${formatMoney(creator.costs?.perThousandViews, currency)}</td>
                <td class="number wide">${formatMoney(creator.costs?.perEngagement, currency)}</td>`
            }
          </tr>`,
      )}
    </tbody>
  </table>`
}

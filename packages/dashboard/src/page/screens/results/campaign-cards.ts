import type { CollectionRow, Reported } from '@influencer-stats/stats/client'
import { describeGaps, describeHidden } from '../../core/counts.ts'
import type { EditTotals, Measure } from '../../core/growth.ts'
import { TIME_RANGES, type TimeRange } from '../../core/time-ranges.ts'
import { isFailing, listReasons } from '../../core/upstream-status.ts'
import { html } from '../../html.ts'
import { formats, useAvailability } from '../../page-state.ts'
import { Card, GrowthChange, MovingNumber } from '../../parts/cards.ts'
import { EditNotes } from '../../parts/edits.ts'
import { text } from '../../texts/texts.ts'

/** States why there are no numbers, if YouTube refuses them. */
function NoNumbers() {
  const { status } = useAvailability()
  if (!isFailing(status?.upstream)) return html`<p class="quiet none" role="status">${text('campaign.waiting')}</p>`
  return html`<p class="none" role="status">
    ${text('campaign.refused', { reasons: listReasons(status.upstream).join(' ') })}
  </p>`
}

/** A figure of a campaign that replaces its sum, such as the growth within its dates. */
export interface CampaignFigure {
  readonly value: number
  readonly notes: readonly string[]
  readonly edits: EditTotals
}

interface CardsProps {
  readonly row: CollectionRow
  /** Window whose growth is shown below the sums. */
  readonly range?: TimeRange
  /** The figures of another period, which replace the sums. */
  readonly figures?: Readonly<Record<Measure, CampaignFigure>> | undefined
  /** True if the cost is that of the figures, such as those of the campaign's dates. */
  readonly isCostOfFigures?: boolean
}

const MICRO = 1e6
/** The cost of a campaign, or the sum of its fees. */
export const getCost = ({ cost, fees }: CollectionRow) =>
  cost ?? (fees && Math.round(fees.reduce((sum, { amount }) => sum + amount, 0) * MICRO) / MICRO)

/** The figures of a campaign. */
export function Cards({ row, range, figures, isCostOfFigures = false }: CardsProps) {
  const sums = row.stats
  if (!sums) return html`<${NoNumbers} />`
  const growth = range && row.change?.[range]
  const toNotes = (measure: Measure) =>
    figures
      ? html`${figures[measure].notes.map((words) => html`<span key=${words}>${words}</span>`)}
          <${EditNotes} edits=${figures[measure].edits} measure=${measure} />`
      : growth &&
        html`<${GrowthChange} sum=${sums[measure]} growth=${growth} measure=${measure} window=${TIME_RANGES[range]} />
          <${EditNotes} edits=${growth} measure=${measure} />`
  const toValue = (measure: Measure) => figures?.[measure].value ?? sums[measure]
  const [views, engagements] = [toValue('impressions'), toValue('engagements')]
  const format = figures ? formats.signed : formats.count
  const { reported } = sums
  const cost = getCost(row)
  // The cost is that of the videos and of the posts.
  const [costViews, costEngagements] = (['impressions', 'engagements'] as const).map(
    (measure) => (isCostOfFigures ? toValue(measure) : sums[measure]) + (reported?.[measure] ?? 0),
  ) as [number, number]
  const costScope = !figures ? 'campaign.ofCost' : isCostOfFigures ? 'results.ofCostInTime' : 'results.ofCost'
  const costKey = reported ? (`${costScope}Reported` as const) : costScope
  const money = (value: number | undefined) => (value === undefined ? '–' : formats.money(value, row.currency))
  const gaps = describeGaps(sums)
  return html`<dl class="cards">
    <${Card} title=${text('measure.views')} value=${html`<${MovingNumber} value=${views} text=${format(views)} />`}>
      ${toNotes('impressions')}
    </${Card}>
    <${Card}
      title=${text('measure.engagements')}
      value=${html`<${MovingNumber} value=${engagements} text=${format(engagements)} />`}
    >
      ${toNotes('engagements')}
      ${describeHidden(sums).map((words) => html`<span class="edit" key=${words}>${words}</span>`)}
    </${Card}>
    <${Card} title=${text('measure.rate')} value=${views > 0 ? formats.percent(engagements / views) : '–'}
      >${text(figures ? 'results.ofViews' : 'measure.ofAllViews')}</${Card}
    >
    <${Card} title=${text('videos.title')} value=${formats.count(row.videos.length)}
      >${gaps.length > 0 ? gaps.join(', ') : text('campaign.allCounted')}</${Card}
    >
    ${reported && html`<${ReportedCards} reported=${reported} />`}
    ${
      cost !== undefined &&
      html` <${Card}
          title=${text('campaign.perThousand')}
          value=${money(costViews > 0 ? (cost / costViews) * 1_000 : undefined)}
          >${text(costKey, { amount: formats.amount(cost, row.currency) })}</${Card}
        >
        <${Card}
          title=${text('campaign.perEngagement')}
          value=${money(costEngagements > 0 ? cost / costEngagements : undefined)}
          >${text(costKey, { amount: formats.amount(cost, row.currency) })}</${Card}
        >`
    }
  </dl>`
}

/** The sums of the posts of other platforms, apart from the live ones. */
function ReportedCards({ reported: { impressions, engagements, posts, asOf } }: { reported: Reported }) {
  const note =
    asOf === undefined ? text('posts.notReported') : text('posts.reportedAsOf', { time: formats.day(Date.parse(asOf)) })
  const value = (count: number | undefined) => (count === undefined ? '–' : formats.count(count))
  return html`<${Card} title=${text('posts.reportedViews')} value=${value(impressions)}
      ><span class="edit">${note}</span><span class="edit">${text('posts.count', { count: posts })}</span></${Card}
    >
    <${Card} title=${text('posts.reportedEngagements')} value=${value(engagements)}>${note}</${Card}>`
}

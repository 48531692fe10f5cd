import type { CollectionRow } from '@influencer-stats/stats/client'
import { useMemo } from 'preact/hooks'
import { sumGrowth, type GrowthSum } from '../../core/growth.ts'
import { TIME_RANGES } from '../../core/time-ranges.ts'
import { useNow } from '../../hooks.ts'
import { html } from '../../html.ts'
import { Card, ChangeLabel } from '../../parts/cards.ts'
import { formats } from '../../page-state.ts'
import { text } from '../../texts/texts.ts'

/** Describes the time that a sum of growths covers, and the number of campaigns that it omits. */
function toPeriod({ counted, young, youngSince, omitted }: GrowthSum, now: number): string {
  const isYoung = young > 0 && young === counted
  const period = isYoung ? text('growth.since', { time: formats.clock(youngSince, now) }) : text('list.in24h')
  const younger = young > 0 && !isYoung ? ` ${text('list.younger', { count: young })}` : ''
  const unknown = omitted > 0 ? `, ${text('list.omitted', { count: omitted })}` : ''
  return `${period}${younger}${unknown}`
}

/** The sums of all campaigns of a list. */
export function HomeTotals({ rows }: { rows: readonly CollectionRow[] }) {
  const now = useNow()
  const sums = useMemo(() => {
    const sum = (getValue: (row: CollectionRow) => number | undefined) =>
      rows.reduce((all, row) => all + (getValue(row) ?? 0), 0)
    return {
      views: sum((row) => row.stats?.impressions),
      engagements: sum((row) => row.stats?.engagements),
      day: sumGrowth(
        rows.map((row) => row.change?.['24h']),
        TIME_RANGES['24h'].length,
        now,
      ),
    }
  }, [rows, now])
  const period = toPeriod(sums.day, now)
  const toChange = (total: number, growth: number) =>
    sums.day.counted > 0
      ? html`<${ChangeLabel} now=${total} growth=${growth} period=${period} />`
      : text('list.unknownIn24h')
  return html`<dl class="cards">
    <${Card} title=${text('measure.views')} value=${formats.count(sums.views)}
      >${toChange(sums.views, sums.day.impressions)}</${Card}
    >
    <${Card} title=${text('measure.engagements')} value=${formats.count(sums.engagements)}
      >${toChange(sums.engagements, sums.day.engagements)}</${Card}
    >
    <${Card}
      title=${text('measure.rate')}
      value=${sums.views > 0 ? formats.percent(sums.engagements / sums.views) : '–'}
      >${text('measure.ofAllViews')}</${Card}
    >
    <${Card} title=${text('frame.campaigns')} value=${formats.count(rows.length)}
      >${text('videos.count', { count: rows.reduce((all, row) => all + row.videos.length, 0) })}</${Card}
    >
  </dl>`
}

import type { Campaign } from '@influencer-stats/stats/client'
import { toDayTime } from '../../core/prices/price-time.ts'
import { TIME_RANGES, timeRangeNames, type Period } from '../../core/time-ranges.ts'
import { html, onText } from '../../html.ts'
import { text } from '../../texts/texts.ts'
import { Tabs } from '../../parts/tabs.ts'

const DAY_MS = 86_400_000
/** Number of days that the choice of other days begins with. */
const DEFAULT_DAYS = 28

/** True if a campaign has a first or a last day. */
export const hasDates = ({ from, to }: Campaign): boolean => from !== undefined || to !== undefined

interface PeriodTabsProps {
  readonly row: Campaign
  readonly period: Period
  show(change: Record<string, string>): void
}

/** A choice of the time that a campaign's screen shows. The days are those of the viewer's time zone. */
export function PeriodTabs({ row, period, show }: PeriodTabsProps) {
  const options = [
    ...(hasDates(row) ? [['dates', text('results.dates')]] : []),
    ...timeRangeNames.map((range) => [range, TIME_RANGES[range].title]),
    ['days', text('results.days')],
  ]
  function choose(range: string) {
    const today = toDayTime(Date.now()).date
    const first = toDayTime(Date.now() - (DEFAULT_DAYS - 1) * DAY_MS).date
    const days = range === 'days' ? { from: row.from ?? first, to: row.to ?? today } : { from: '', to: '' }
    show({ range, ...days })
  }
  return html`<${Tabs}
      label=${text('range.label')}
      options=${options}
      value=${period.kind === 'window' ? period.range : period.kind}
      onChange=${choose}
    />
    ${
      period.kind === 'days' &&
      html`<span class="days">
        ${(['from', 'to'] as const).map(
          (end) =>
            html`<input
              key=${end}
              type="date"
              required
              aria-label=${text(end === 'from' ? 'results.firstDay' : 'results.lastDay')}
              value=${period[end]}
              onChange=${onText((day) => day && show({ range: 'days', from: period.from, to: period.to, [end]: day }))}
            />`,
        )}
      </span>`
    }`
}

import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { CampaignSource } from '../api.ts'
import { readMeasure, type Measure } from '../core/growth.ts'
import { TIME_RANGES, type TimeRange } from '../core/time-ranges.ts'
import { joinSeries, subtractEdits, toHourly, type EditedSums } from '../core/series.ts'
import { useLoaded } from '../hooks.ts'
import { html } from '../html.ts'
import { useRefresh } from '../use-refresh.ts'
import { text } from '../texts/texts.ts'
import { TimeChart } from './chart.ts'
import { ErrorMessage } from './dialog.ts'
import { EditList, listEdits } from './edits.ts'
import { Tabs } from './tabs.ts'

export const MEASURE_TABS = [
  ['', text('measure.views')],
  ['engagements', text('measure.engagements')],
] as const
const MODE_TABS = [
  ['', text('mode.total')],
  ['hourly', text('mode.hourly')],
] as const

/** The name of the line: a measure, as a total or per hour. */
const NAMES = {
  impressions: { total: 'measure.views', hourly: 'measure.viewsPerHour' },
  engagements: { total: 'measure.engagements', hourly: 'measure.engagementsPerHour' },
} as const

interface GrowthHeadProps {
  /** The values and titles of the modes. */
  readonly modes: readonly (readonly [string, string])[]
  readonly measure: Measure
  readonly isHourly: boolean
  readonly children?: ComponentChildren
  show(change: Record<string, string>): void
}

/** The head of a chart of growth: its measure and its mode, which the address has. */
export const GrowthHead = ({ modes, measure, isHourly, children, show }: GrowthHeadProps) =>
  html`<div class="panel-head">
    <${Tabs}
      label=${text('measure.label')}
      options=${MEASURE_TABS}
      value=${measure === 'impressions' ? '' : measure}
      onChange=${(value: string) => show({ measure: value })}
    />
    <${Tabs}
      label=${text('mode.label')}
      options=${modes}
      value=${isHourly ? 'hourly' : ''}
      onChange=${(value: string) => show({ mode: value })}
    />
    ${children}
  </div>`

interface GrowthChartProps {
  readonly source: CampaignSource
  readonly id: string
  readonly range: TimeRange
  readonly query: URLSearchParams
  /** The newest sums, which the history may not have yet. */
  readonly now: ({ readonly asOf: string } & Readonly<Record<Measure, number>>) | undefined
  /** Basis of the sums. It changes when an edit changes the sums. */
  readonly basis: string | undefined
  show(change: Record<string, string>): void
}

/** The growth of a campaign as a chart. */
export function GrowthChart({ source, id, range, query, now, basis, show }: GrowthChartProps) {
  const { length, step, within } = TIME_RANGES[range]
  const measure = readMeasure(query)
  const isHourly = query.get('mode') === 'hourly'
  const history = useLoaded(() => source.getHistory(new Date(Date.now() - length), step), [source, id, range], [basis])
  useRefresh(history.reload)

  // Live sums extend the line, one point per step. The newest point moves until its step ends.
  const liveSums = useRef<{ readonly base: unknown; readonly points: EditedSums[] }>({ base: undefined, points: [] })
  const data = useMemo(() => {
    const base = history.value ?? range
    if (liveSums.current.base !== base) liveSums.current = { base, points: [] }
    const known: EditedSums[] = [
      ...(history.value ?? []).map(({ at, ...sums }) => ({ ...sums, at: Date.parse(at) })),
      ...liveSums.current.points,
    ]
    const newest = now && { ...now, at: Date.parse(now.asOf) }
    if (newest && newest.at >= (known.at(-1)?.at ?? -Infinity) + step * 1_000) {
      liveSums.current.points.push(newest)
      known.push(newest)
    } else if (newest && !isHourly && newest.at > known.at(-1)!.at) known.push(newest)
    const points = known.map((sums) => ({ at: sums.at, value: sums[measure] }))
    return joinSeries([
      (isHourly ? toHourly(subtractEdits(known, measure)) : points).map(({ at, value }) => ({ at: at / 1_000, value })),
    ])
  }, [history.value, range, measure, isHourly, now?.asOf])

  const edits = useMemo(() => listEdits(history.value ?? [], measure), [history.value, measure])

  const name = text(NAMES[measure][isHourly ? 'hourly' : 'total'])
  const [first, newest] = [data[1]?.[0], data[1]?.at(-1)]
  const summary =
    typeof first === 'number'
      ? text('chart.summaryValues', { name, within, first, last: newest ?? first })
      : text('chart.summary', { name, within })
  return html`<section class="panel" aria-label=${text('chart.growth')}>
    <${GrowthHead} modes=${MODE_TABS} measure=${measure} isHourly=${isHourly} show=${show} />
    <${ErrorMessage} text=${history.fault} />
    ${data[0].length < 2 && !history.isLoading && !history.fault && html`<p class="quiet none">${text(data[0].length === 1 ? 'chart.soonOnePoint' : 'chart.soonNoPoints')}</p>`}
    ${
      data[0].length > 1 &&
      html`<${TimeChart} data=${data} names=${[name]} isFromZero=${isHourly} summary=${summary} marks=${edits} />`
    }
    <${EditList} edits=${edits} />
  </section>`
}

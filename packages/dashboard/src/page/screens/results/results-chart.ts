import type { CollectionRow, Results } from '@influencer-stats/stats/client'
import { useMemo } from 'preact/hooks'
import { stats } from '../../api.ts'
import { readMeasure, type Measure } from '../../core/growth.ts'
import { getTitle } from '../../core/names.ts'
import { interpolateAt, joinSeries, toHourly } from '../../core/series.ts'
import { useLoaded } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { PERIOD_BEFORE, toGrowthLine, type ComparedRange, type RangeSeries } from '../../range-reader.ts'
import { text } from '../../texts/texts.ts'
import { TimeChart } from '../../parts/chart.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { EditList, listEdits } from '../../parts/edits.ts'
import { GrowthHead } from '../../parts/growth-chart.ts'

const MODE_TABS = [
  ['', text('mode.growth')],
  ['hourly', text('mode.hourly')],
] as const
const MAX_LISTED = 200
/** Ends whose sums are this well known need no note (s). */
const MAX_QUIET_GAP_S = 7_200

interface ResultsChartProps {
  readonly row: CollectionRow
  readonly range: RangeSeries | undefined
  readonly compared: ComparedRange | undefined
  /** Reason why the comparison could not be read. */
  readonly fault: string | undefined
  readonly query: URLSearchParams
  readonly isOwn: boolean
  show(change: Record<string, string>): void
}

/** The growth of a campaign within a range as a chart, and that of another range from the same start. */
export function ResultsChart(props: ResultsChartProps) {
  const { row, range, compared, query, isOwn, show } = props
  const measure = readMeasure(query)
  const isHourly = query.get('mode') === 'hourly'
  const versus = query.get('vs') ?? ''
  const others = useLoaded(
    async () => (isOwn ? (await stats.list({ sort: 'name', limit: MAX_LISTED })).collections : []),
    [isOwn],
  )

  const data = useMemo(() => {
    const lines = [range, ...(compared ? [compared] : [])].map((one) => toGrowthLine(one, measure))
    const shift = range && compared ? Date.parse(range.results.from) - Date.parse(compared.results.from) : 0
    const moved = lines.map((line, i) => line.map(({ at, value }) => ({ at: at + (i > 0 ? shift : 0), value })))
    return joinSeries(
      moved.map((line) => (isHourly ? toHourly(line) : line).map(({ at, value }) => ({ at: at / 1_000, value }))),
    )
  }, [range, compared, measure, isHourly])
  const edits = useMemo(() => listEdits(range?.points ?? [], measure), [range, measure])

  // The list has only a part of many campaigns.
  const isUnlisted = versus !== '' && versus !== PERIOD_BEFORE && others.value?.every(({ id }) => id !== versus)

  const name = text(measure === 'impressions' ? 'measure.views' : 'measure.engagements')
  const within = range ? describeRange(range.results) : ''
  const names = [`${name}, ${within}`, ...(compared ? [describeCompared(compared)] : [])]
  const notes = range ? describeQuality(range.results) : []
  return html`<section class="panel results" aria-label=${text('chart.growth')}>
    <${GrowthHead} modes=${MODE_TABS} measure=${measure} isHourly=${isHourly} show=${show}>
      <select aria-label=${text('results.compare')} value=${versus} onChange=${onText((vs) => show({ vs }))}>
        <option value="">${text('results.compareNone')}</option>
        <option value=${PERIOD_BEFORE}>${text('results.before')}</option>
        ${(others.value ?? [])
          .filter(({ id }) => id !== row.id)
          .map((one) => html`<option key=${one.id} value=${one.id} dir="auto">${getTitle(one)}</option>`)}
        ${isUnlisted && html`<option value=${versus} dir="auto">${compared?.title ?? versus}</option>`}
      </select>
    </${GrowthHead}>
    <${ErrorMessage} text=${props.fault} />
    ${range && !range.results.growth && html`<p class="quiet none">${text(range.results.state === 'upcoming' ? 'results.upcoming' : 'results.unknown')}</p>`}
    ${range && versus && compared && html`<p class="compared">${compare(range, compared, measure)}</p>`}
    ${
      data[0].length > 1 &&
      html`<${TimeChart}
        data=${data}
        names=${names}
        isFromZero=${true}
        summary=${text('results.summary', { names: names.join('; ') })}
        marks=${edits}
      />`
    }
    ${notes.map((words) => html`<p class="quiet note" key=${words}>${words}</p>`)}
    <${EditList} edits=${edits} />
  </section>`
}

/** The first and the last day of a range. */
function describeRange({ from, to }: Results): string {
  const [first, end] = [Date.parse(from), Date.parse(to)]
  return `${formats.day(first)} – ${formats.day(Math.max(first, end - 1))}`
}

const describeCompared = ({ title, results }: ComparedRange): string =>
  `${title ?? text('results.before')}, ${describeRange(results)}`

/**
 * The growth of two ranges in words, both up to the same time after their starts: one of them may still be running, or have
 * no later numbers.
 */
function compare(range: RangeSeries, compared: ComparedRange, measure: Measure): string {
  const name = describeCompared(compared)
  const lines = [range, compared].map((one) => {
    const from = Date.parse(one.results.from)
    return toGrowthLine(one, measure).map(({ at, value }) => ({ at: at - from, value }))
  })
  const elapsed = Math.min(...lines.map((line) => line.at(-1)?.at ?? -Infinity))
  const [now, before] = lines.map((line) => interpolateAt(line, elapsed))
  if (now === undefined || before === undefined) return text('results.comparedUnknown', { name })
  const time = describeGap(elapsed / 1_000)
  const values = { name, time, before: formats.signed(Math.round(before)), now: formats.signed(Math.round(now)) }
  if (before <= 0) return text('results.compared', values)
  return text('results.comparedShare', { ...values, share: formats.signedPercent((now - before) / before) })
}

/** Notes on the ends of a range whose sums are not well known. */
function describeQuality({ start, end, state }: Results): string[] {
  const notes: string[] = []
  if (start?.quality === 'first') notes.push(text('results.first', { time: formats.moment(Date.parse(start.at)) }))
  if (start?.quality === 'interpolated' && start.gap > MAX_QUIET_GAP_S)
    notes.push(text('results.interpolatedStart', { time: describeGap(start.gap) }))
  if (end?.quality === 'interpolated' && end.gap > MAX_QUIET_GAP_S)
    notes.push(text('results.interpolatedEnd', { time: describeGap(end.gap) }))
  if (end?.quality === 'last' && (state === 'ended' || end.gap > MAX_QUIET_GAP_S))
    notes.push(text('results.last', { time: formats.moment(Date.parse(end.at)) }))
  return notes
}

function describeGap(seconds: number): string {
  const hours = Math.round(seconds / 3_600)
  const days = Math.floor(hours / 24)
  if (hours < 48) return text('compare.hours', { hours })
  const rest = hours - days * 24
  return rest === 0 ? text('compare.days', { days }) : text('compare.daysHours', { days, hours: rest })
}

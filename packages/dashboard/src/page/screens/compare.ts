import type { CollectionRow } from '@influencer-stats/stats/client'
import { useMemo } from 'preact/hooks'
import { stats } from '../api.ts'
import { getTitle } from '../core/names.ts'
import { updateSearch, parseTimeRange, TIME_RANGES, type TimeRange } from '../core/time-ranges.ts'
import {
  joinSeries,
  subtractEdits,
  subtractFirst,
  toHourly,
  type EditedSums,
  type SeriesPoint,
} from '../core/series.ts'
import { useLast, useLoaded, useTitle } from '../hooks.ts'
import { html, onText } from '../html.ts'
import { Chart, formatTime, Swatch } from '../parts/chart.ts'
import { ErrorMessage } from '../parts/dialog.ts'
import { GrowthChange } from '../parts/cards.ts'
import { RangeTabs, Tabs } from '../parts/tabs.ts'
import { readBeginning, toGrowthLine, type RangeSeries } from '../range-reader.ts'
import { useRefresh } from '../use-refresh.ts'
import { go, type PageLocation } from '../router.ts'
import { formats } from '../page-state.ts'
import { rich, text } from '../texts/texts.ts'

const MAX_COMPARED = 6
const MAX_LISTED = 200
const HOUR_S = 3_600
const ALIGNMENTS = [
  ['', text('compare.byDate')],
  ['start', text('compare.fromStart')],
] as const
/**
 * Display modes. The default is growth since the beginning of the range: with totals, one far larger campaign would make
 * the other lines flat.
 */
const MODE_TABS = [
  ['', text('mode.growth')],
  ['total', text('mode.total')],
  ['hourly', text('mode.hourly')],
] as const

const formatHours = (seconds: number) => {
  const [days, hours] = [Math.floor(seconds / (24 * HOUR_S)), Math.floor((seconds % (24 * HOUR_S)) / HOUR_S)]
  if (days === 0) return text('compare.hours', { hours })
  return hours === 0 ? text('compare.days', { days }) : text('compare.daysHours', { days, hours })
}

/** Two to six campaigns on one chart. */
export function Compare({ pageLocation }: { pageLocation: PageLocation }) {
  useTitle(text('frame.compare'))
  const query = new URLSearchParams(pageLocation.search)
  const ids = [...new Set(query.getAll('c'))].slice(0, MAX_COMPARED)
  const range = parseTimeRange(query.get('range'))
  const isAligned = query.get('align') === 'start'
  const mode = query.get('mode') ?? ''
  const listed = useLoaded(
    () => stats.list({ include: ['stats', 'change'], sort: '-impressions', limit: MAX_LISTED }),
    [],
  )
  const chosen = useLoaded(() => readAll(ids, range, isAligned), [ids.join(), range, isAligned])
  useRefresh(listed.reload)
  useRefresh(chosen.reload)
  const last = useLast(chosen.value)
  const rows = (last ?? []).map(({ row }) => row).filter(({ id }) => ids.includes(id))
  const gone = chosen.value ? ids.length - rows.length : 0

  const data = useMemo(() => {
    const all = (chosen.value ?? []).map(({ points, beginning }) => {
      const line = beginning ? toBeginningLine(beginning, mode) : toLine(points, mode)
      return line.map(({ at, value }) => ({ at: at / 1_000, value }))
    })
    return joinSeries(all)
  }, [chosen.value, mode])
  const names = useMemo(() => (chosen.value ?? []).map(({ row }) => getTitle(row)), [chosen.value])

  const show = (change: Record<string, string>) =>
    go(pageLocation.path + updateSearch(pageLocation.search, change), { replace: true })
  function choose(next: readonly string[]) {
    const changed = new URLSearchParams(pageLocation.search)
    changed.delete('c')
    for (const id of next) changed.append('c', id)
    go(`${pageLocation.path}?${changed}`, { replace: true })
  }
  const others = (listed.value?.collections ?? []).filter(({ id }) => !ids.includes(id))

  return html`<div class="head">
      <div>
        <h1>${text('frame.compare')}</h1>
        <p class="quiet facts">${text('compare.note', { within: TIME_RANGES[range].within })}</p>
      </div>
      <div class="tools">
        <${RangeTabs} value=${range} onChange=${(one: string) => show({ range: one })} />
      </div>
    </div>
    <div class="chosen">
      ${rows.map(
        (row, i) =>
          html`<span class="chip" key=${row.id}
            ><${Swatch} line=${i} />
            <a href=${`/campaigns/${encodeURIComponent(row.id)}`}><bdi>${getTitle(row)}</bdi></a>
            ${row.stats && html`<b>${formats.count(row.stats.impressions)}</b>`}
            ${row.stats && row.change && html`<${GrowthChange} sum=${row.stats.impressions} growth=${row.change[range]} measure="impressions" window=${TIME_RANGES[range]} isShort=${true} />`}
            <button
              class="icon"
              aria-label=${text('compare.remove', { name: getTitle(row) })}
              onClick=${() => choose(ids.filter((id) => id !== row.id))}
            >
              ✕
            </button></span
          >`,
      )}
      ${
        ids.length < MAX_COMPARED &&
        others.length > 0 &&
        html`<select aria-label=${text('compare.add')} value="" onChange=${onText((id) => choose([...ids, id]))}>
          <option value="">${text('compare.addOption')}</option>
          ${others.map((row) => html`<option key=${row.id} value=${row.id} dir="auto">${getTitle(row)}</option>`)}
        </select>`
      }
    </div>
    <${ErrorMessage} text=${chosen.fault ?? listed.fault} />
    ${gone > 0 && html`<p class="quiet filter" role="status">${text('compare.gone', { count: gone })}</p>`}
    ${ids.length < 2 && html`<p class="quiet none">${text('compare.choose')}</p>`}
    ${
      ids.length > 1 &&
      names.length > 0 &&
      html`<section class="panel" aria-label=${text('chart.growth')}>
        <div class="panel-head">
          <${Tabs}
            label=${text('compare.alignment')}
            options=${ALIGNMENTS}
            value=${isAligned ? 'start' : ''}
            onChange=${(value: string) => show({ align: value })}
          />
          <${Tabs}
            label=${text('mode.label')}
            options=${MODE_TABS}
            value=${mode}
            onChange=${(value: string) => show({ mode: value })}
          />
        </div>
        ${
          data[0].length < 2
            ? html`<p class="quiet none">${text('chart.soon')}</p>`
            : html`<${Chart}
                data=${data}
                names=${names}
                x=${isAligned ? formatHours : formatTime}
                y=${formats.count}
                yShort=${formats.short}
                isTime=${!isAligned}
                isFromZero=${mode !== 'total'}
                summary=${isAligned ? text('compare.summaryFromStart', { names: names.join(', ') }) : text('compare.summary', { names: names.join(', '), within: TIME_RANGES[range].within })}
              />`
        }
        ${isAligned && html`<p class="quiet note">${text('compare.startNote')}</p>`}
        ${isAligned && (chosen.value ?? []).map(({ row, beginning }) => html`<${BeginningNote} key=${row.id} row=${row} beginning=${beginning} />`)}
      </section>`
    }`
}

/** States what is not known of the beginning of a campaign. */
function BeginningNote({ row, beginning }: { row: CollectionRow; beginning: RangeSeries | undefined }) {
  const { growth, start, from, state } = beginning?.results ?? {}
  const name = html`<bdi>${getTitle(row)}</bdi>`
  if (!growth)
    return html`<p class="quiet note">
      ${rich(state === 'upcoming' ? 'compare.upcoming' : 'compare.unknown', { name })}
    </p>`
  const unknown = start?.quality === 'first' ? (Date.parse(start.at) - Date.parse(from!)) / 1_000 : 0
  if (unknown < HOUR_S) return null
  const time = formatHours(unknown)
  return html`<p class="quiet note">${rich('compare.firstNumbers', { name, time })}</p>`
}

/** The line of a campaign by date: its views, or their growth without edits. */
function toLine(points: readonly EditedSums[], mode: string): SeriesPoint[] {
  if (mode === 'total') return points.map(({ at, impressions }) => ({ at, value: impressions }))
  const grown = subtractEdits(points, 'impressions')
  return mode === 'hourly' ? toHourly(grown) : subtractFirst(grown)
}

/** The line of a campaign by the time since its start (ms). */
function toBeginningLine(beginning: RangeSeries, mode: string): SeriesPoint[] {
  const grown = toGrowthLine(beginning, 'impressions')
  const totals = beginning.points.map(({ at, impressions }) => ({ at: Date.parse(at), value: impressions }))
  const line = mode === 'total' ? totals : mode === 'hourly' ? toHourly(grown) : grown
  const from = Date.parse(beginning.results.from)
  return line.map(({ at, value }) => ({ at: at - from, value }))
}

/** Reads the campaigns that exist, with the history of their views up to now, or that of their beginning. */
async function readAll(ids: readonly string[], range: TimeRange, isAligned: boolean) {
  const { length, step } = TIME_RANGES[range]
  const from = new Date(Date.now() - length)
  const found = await Promise.all(
    ids.map(async (id) => {
      const [row, history = [], beginning] = await Promise.all([
        stats.get(id, ['stats', 'change']),
        isAligned ? [] : stats.getHistory(id, { from, step }),
        isAligned ? readBeginning(id, length) : undefined,
      ])
      const points = history.map(({ at, ...sums }): EditedSums => ({ ...sums, at: Date.parse(at) }))
      return row && { row: row as CollectionRow, points, beginning }
    }),
  )
  return found.filter((one) => one !== undefined)
}

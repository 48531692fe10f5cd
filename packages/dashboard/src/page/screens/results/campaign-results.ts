import type { CollectionRow, Results } from '@influencer-stats/stats/client'
import { useMemo } from 'preact/hooks'
import type { CampaignSource } from '../../api.ts'
import type { Measure } from '../../core/growth.ts'
import type { Period } from '../../core/time-ranges.ts'
import { useLast, useLoaded } from '../../hooks.ts'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { ResultsChart } from './results-chart.ts'
import { readComparison, readRange, VIEWER_ZONE } from '../../range-reader.ts'
import { text } from '../../texts/texts.ts'
import { useRefresh } from '../../use-refresh.ts'
import { Cards, type CampaignFigure } from './campaign-cards.ts'

interface CampaignResultsProps {
  readonly row: CollectionRow
  readonly source: CampaignSource
  readonly period: Exclude<Period, { kind: 'window' }>
  readonly query: URLSearchParams
  /** False on the page of a share link, which shows no other campaign. */
  readonly isOwn: boolean
  show(change: Record<string, string>): void
}

/** The figures and the chart of a campaign within its dates, or within other days. */
export function CampaignResults({ row, source, period, query, isOwn, show }: CampaignResultsProps) {
  const days = period.kind === 'days' ? { from: period.from, to: period.to } : {}
  const versus = query.get('vs') ?? ''
  const range = useLoaded(
    () => readRange(source, { ...days, zone: VIEWER_ZONE }),
    [source, days.from, days.to, row.from, row.to],
    [row.version],
  )
  const last = useLast(range.value)
  // While other days are read, the former ones remain. After a refusal they would be those of another range.
  const shown = range.value ?? (range.isLoading ? last : undefined)
  const results = shown?.results
  const compared = useLoaded(
    async () => (results && versus ? readComparison(versus, source, results) : undefined),
    [source, versus, results?.from, results?.to],
  )
  useRefresh(range.reload)
  useRefresh(compared.reload)
  const live = useMemo(() => results && addLive(results, row), [results, row])

  return html`<${ErrorMessage} text=${range.fault} />
    ${!results && range.isLoading && html`<p class="quiet" role="status">${text('frame.loading')}</p>`}
    ${results && html`<${Cards} row=${row} figures=${live && toFigures(live, row)} isCostOfFigures=${period.kind === 'dates'} />`}
    ${
      results &&
      html`<${ResultsChart}
        row=${row}
        range=${shown}
        compared=${compared.value}
        fault=${compared.fault}
        query=${query}
        isOwn=${isOwn}
        show=${show}
      />`
    }`
}

/** Adds the growth since the end of the results, up to the live sums, if the range contains the present. */
function addLive(results: Results, { stats: sums }: CollectionRow): Results {
  const { growth, end, state } = results
  if (!growth || !end || !sums || state !== 'running') return results
  // Sums of other videos, and older ones, contain changes that are not growth.
  if (sums.videos !== end.videos || Date.parse(sums.asOf) <= Date.parse(end.at)) return results
  const add = (name: 'impressions' | 'engagements' | 'score') => growth[name] + sums[name] - end[name]
  return {
    ...results,
    growth: { ...growth, impressions: add('impressions'), engagements: add('engagements'), score: add('score') },
  }
}

/** The figures of results. Without known growth they are undefined, and the cards show the sums. */
function toFigures(results: Results, { stats: sums }: CollectionRow): Record<Measure, CampaignFigure> | undefined {
  const { growth } = results
  if (!growth) return undefined
  const toFigure = (measure: Measure): CampaignFigure => ({
    value: growth[measure],
    notes: [text('results.total', { value: formats.count(sums?.[measure] ?? 0) })],
    edits: growth,
  })
  return { impressions: toFigure('impressions'), engagements: toFigure('engagements') }
}

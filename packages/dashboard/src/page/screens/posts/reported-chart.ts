import type { Reported } from '@influencer-stats/stats/client'
import { useMemo } from 'preact/hooks'
import type { CampaignSource } from '../../api.ts'
import { readMeasure } from '../../core/growth.ts'
import { toReportedLine } from '../../core/posts/reported-line.ts'
import { joinSeries } from '../../core/series.ts'
import { useLoaded } from '../../hooks.ts'
import { html } from '../../html.ts'
import { TimeChart } from '../../parts/chart.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { MEASURE_TABS } from '../../parts/growth-chart.ts'
import { Tabs } from '../../parts/tabs.ts'
import { text } from '../../texts/texts.ts'

interface ReportedChartProps {
  readonly source: CampaignSource
  readonly reported: Reported
  readonly query: URLSearchParams
  show(change: Record<string, string>): void
}

/** The reported sums over time, apart from the live ones: a step at each report. */
export function ReportedChart({ source, reported, query, show }: ReportedChartProps) {
  const measure = readMeasure(query)
  const history = useLoaded(() => source.getReportedHistory(), [source], [JSON.stringify(reported)])
  const data = useMemo(
    () =>
      joinSeries([
        toReportedLine(history.value ?? [], measure, Date.now()).map(({ at, value }) => ({ at: at / 1_000, value })),
      ]),
    [history.value, measure],
  )
  const name = text(measure === 'impressions' ? 'posts.reportedViews' : 'posts.reportedEngagements')
  return html`<section class="panel" aria-label=${text('posts.history')}>
    <div class="panel-head">
      <h2>${text('posts.history')}</h2>
      <${Tabs}
        label=${text('measure.label')}
        options=${MEASURE_TABS}
        value=${measure === 'impressions' ? '' : measure}
        onChange=${(value: string) => show({ measure: value })}
      />
    </div>
    <${ErrorMessage} text=${history.fault} />
    ${history.value && data[0].length < 2 && html`<p class="quiet none">${text('posts.historyNone')}</p>`}
    ${
      data[0].length > 1 &&
      html`<${TimeChart}
        data=${data}
        names=${[name]}
        isFromZero=${true}
        summary=${text('posts.historySummary', { name })}
      />`
    }
  </section>`
}

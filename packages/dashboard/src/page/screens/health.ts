import { useEffect, useRef, useState } from 'preact/hooks'
import { listReports } from '../api.ts'
import { isFailing, listReasons, type UpstreamStatus } from '../core/upstream-status.ts'
import { sumMetric, type PrometheusSample } from '../core/prometheus.ts'
import { getNextRenewal } from '../core/pacific.ts'
import { useLoaded, useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { Card, Clock } from '../parts/cards.ts'
import { formats, useAvailability, usePageState } from '../page-state.ts'
import { rich, text } from '../texts/texts.ts'
import { Logs } from './health-log.ts'
import { observeNode, Service, type NodeObservation } from './health-node.ts'

/** Interval at which metrics are read (ms). */
const READ_INTERVAL_MS = 5_000

/** The health of all services. */
export function Health() {
  useTitle(text('frame.health'))
  const { session } = usePageState()
  const { status } = useAvailability()
  const states = useRef<Record<string, NodeObservation>>({})
  const [, rerender] = useState(0)
  useEffect(() => {
    let isUnmounted = false
    async function read() {
      const found = await Promise.all(
        session.nodes.map(async (name) => [name, await observeNode(name, states.current[name])] as const),
      )
      if (isUnmounted) return
      states.current = Object.fromEntries(found)
      rerender((turn) => turn + 1)
    }
    void read()
    const timer = setInterval(() => document.hidden || void read(), READ_INTERVAL_MS)
    return () => {
      isUnmounted = true
      clearInterval(timer)
    }
  }, [])

  return html`<div class="head"><h1>${text('frame.health')}</h1></div>
    <${Quota}
      samples=${findQuotaSamples(states.current)}
      source=${status ? status.source : session.source}
      upstream=${status?.upstream}
    />
    <${UpstreamError} upstream=${status?.upstream} />
    <${Logs} states=${states.current} />
    <div class=${`services ${session.nodes.length > session.services.length ? 'many' : ''}`}>
      ${session.nodes.map((name) => html`<${Service} key=${name} name=${name} state=${states.current[name]} />`)}
    </div>
    <${ReportLinks} />`
}

const renderLink = (path: string, title: string) =>
  html`<a key=${path} href=${`/reports/${path}`} target="_blank" rel="noopener">${title}</a>`

/** Links to the benchmark report and the flame graphs of this release, if their files exist. */
function ReportLinks() {
  const { value: paths = [] } = useLoaded(listReports, [])
  const graphs = paths.flatMap((path) => {
    const [, service, variant, work, title] = /^flame\/(.+)\/(.+)\/(.+)\/(.+)\.html$/.exec(path) ?? []
    return service ? [{ path, service, row: `${variant} ${work}`, title: title!.replaceAll('-', ' ') }] : []
  })
  const report = paths.find((path) => path.startsWith('bench/'))
  if (paths.length === 0) return undefined
  return html`<section class="panel reports">
    <div class="panel-head">
      <h2>${text('health.benchmarks')}</h2>
      ${report && renderLink(report, text('health.report'))}
    </div>
    ${[...Map.groupBy(graphs, ({ service }) => service)].map(
      ([service, ofService]) =>
        html`<details key=${service}>
          <summary>${text('health.flames', { service })}</summary>
          <dl>
            ${[...Map.groupBy(ofService, ({ row }) => row)].map(
              ([row, some]) =>
                html`<dt key=${row}>${row}</dt>
                  <dd>${some.map(({ path, title }) => renderLink(path, title))}</dd>`,
            )}
          </dl>
        </details>`,
    )}
  </section>`
}

/** The metrics of the stats node that calls YouTube. Empty if that node has not responded yet. */
function findQuotaSamples(states: Record<string, NodeObservation>): readonly PrometheusSample[] {
  const all = Object.entries(states).flatMap(([name, { reading }]) =>
    reading && /^stats\b/.test(name) ? [reading.samples] : [],
  )
  return all.find((samples) => sumMetric(samples, 'stats_poller_leader') !== 0) ?? []
}

interface QuotaProps {
  readonly samples: readonly PrometheusSample[]
  readonly source: string | undefined
  readonly upstream: UpstreamStatus | undefined
}

const UNKNOWN_FACT = { value: '–', note: text('health.unknown') }

/** The quota of the day, from `GET /upstream` of stats or from its metrics. */
function describeQuota(samples: readonly PrometheusSample[], upstream: UpstreamStatus | undefined) {
  const used = upstream?.budget?.used ?? sumMetric(samples, 'stats_quota_units_used')
  const limit = upstream?.budget ? (upstream.budget.limit ?? 0) : sumMetric(samples, 'stats_quota_units_budget')
  if (limit === 0) return { value: '–', note: text('health.noLimit') }
  if (limit === undefined || used === undefined) return UNKNOWN_FACT
  const renewal = formats.moment(getNextRenewal(Date.now()))
  return { value: formats.count(Math.max(0, limit - used)), note: text('health.quotaNote', { limit, time: renewal }) }
}

function describeStaleness(samples: readonly PrometheusSample[]) {
  const campaigns = sumMetric(samples, 'stats_collections')
  const stale = sumMetric(samples, 'stats_collections_stale')
  if (campaigns === undefined || stale === undefined) return UNKNOWN_FACT
  const value = formats.count(campaigns)
  if (campaigns === 0) return { value, note: text('health.noNumbers') }
  return { value, note: stale === 0 ? text('health.fresh') : text('health.stale', { count: stale }) }
}

const MINUTE_S = 60
const HOUR_S = 3_600

/** A time between two refreshes: 90 s, 5 min or 3 h. */
function formatInterval(seconds: number): string {
  if (seconds < 2 * MINUTE_S) return text('health.seconds', { value: formats.count(seconds) })
  if (seconds < 2 * HOUR_S) return text('health.minutes', { value: formats.count(seconds / MINUTE_S) })
  return text('health.hours', { value: formats.count(seconds / HOUR_S) })
}

function Quota({ samples, source, upstream }: QuotaProps) {
  const interval = sumMetric(samples, 'stats_refresh_interval_seconds')
  const sources = {
    youtube: [text('health.youtube'), text('health.youtubeNote')],
    'stand-in': [text('health.standIn'), text('health.standInNote')],
  } as const
  const [from, note] = sources[source as keyof typeof sources] ?? [UNKNOWN_FACT.value, UNKNOWN_FACT.note]
  const quota = describeQuota(samples, upstream)
  const campaigns = describeStaleness(samples)
  return html`<dl class="cards">
    <${Card} title=${text('health.source')} value=${from}
      >${upstream?.source?.startsWith('http') ? upstream.source : note}</${Card}
    >
    <${Card} title=${text('health.quota')} value=${quota.value}>${quota.note}</${Card}>
    <${UnitsByKind} kinds=${upstream?.budget?.kinds} />
    <${Card}
      title=${text('health.refreshed')}
      value=${interval === undefined ? UNKNOWN_FACT.value : formatInterval(interval)}
      >${interval === undefined ? UNKNOWN_FACT.note : text('health.refreshedNote')}</${Card}
    >
    <${Card} title=${text('frame.campaigns')} value=${campaigns.value}>${campaigns.note}</${Card}>
  </dl>`
}

/** Kinds of calls, the most frequent one first. */
const KINDS = ['videos', 'channels', 'playlistItems', 'lookups'] as const

/** The used units of the day by kind of call. Absent if stats does not state them. */
function UnitsByKind({ kinds }: { kinds: NonNullable<UpstreamStatus['budget']>['kinds'] | undefined }) {
  if (!kinds) return undefined
  const used = KINDS.reduce((sum, kind) => sum + kinds[kind], 0)
  return html`<${Card} title=${text('health.units')} value=${formats.count(used)}>
    ${KINDS.map((kind) => html`<span class="fact" key=${kind}>${text(`health.units.${kind}`, { units: kinds[kind] })}</span>`)}
  </${Card}>`
}

/** The reason why YouTube returns no numbers, and the remedy. */
function UpstreamError({ upstream }: { upstream: UpstreamStatus | undefined }) {
  if (!isFailing(upstream)) return null
  const { since, retryAt, key } = upstream
  const time = (at: string) => html`<${Clock} at=${at} />`
  return html`<section class="panel" aria-label=${text('health.youtube')}>
    <div class="panel-head">
      <h2>${text('upstream.title')}</h2>
      <span class="dot lost">${text(upstream.state === 'paused' ? 'upstream.paused' : 'upstream.failing')}</span>
    </div>
    ${listReasons(upstream).map((words) => html`<p key=${words}>${words}</p>`)}
    <p class="quiet">
      ${key && html`<span>${text('upstream.key', { key })} </span>`}
      ${since && html`<span>${rich('upstream.since', { time: time(since) })} </span>`}
      ${retryAt && html`<span>${rich('upstream.retryAt', { time: time(retryAt) })}</span>`}
    </p>
  </section>`
}

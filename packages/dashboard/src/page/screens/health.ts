import { useEffect, useRef, useState } from 'preact/hooks'
import { measured } from '../api.ts'
import { isFailing, reasonsOf, type UpstreamStatus } from '../core/upstream.ts'
import { figure, type Sample } from '../core/prometheus.ts'
import { nextRenewal } from '../core/pacific.ts'
import { useLoaded, useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { Card, Clock } from '../parts/figures.ts'
import { formats, useAvailability, useShared } from '../session.ts'
import { observeNode, Service, type NodeObservation } from './health-node.ts'

/** Figures are read so often (ms). */
const EVERY = 5_000

/** How all services do. */
export function Health() {
  useTitle('Health')
  const { session } = useShared()
  const { status } = useAvailability()
  const states = useRef<Record<string, NodeObservation>>({})
  const [, tell] = useState(0)
  useEffect(() => {
    let isGone = false
    async function read() {
      const found = await Promise.all(
        session.nodes.map(async (name) => [name, await observeNode(name, states.current[name])] as const),
      )
      if (isGone) return
      states.current = Object.fromEntries(found)
      tell((turn) => turn + 1)
    }
    void read()
    const timer = setInterval(() => document.hidden || void read(), EVERY)
    return () => {
      isGone = true
      clearInterval(timer)
    }
  }, [])

  return html`<div class="head"><h1>Health</h1></div>
    <${Quota}
      samples=${quotaIn(states.current)}
      source=${status ? status.source : session.source}
      upstream=${status?.upstream}
    />
    <${UpstreamFault} upstream=${status?.upstream} />
    <div class=${`services ${session.nodes.length > session.services.length ? 'many' : ''}`}>
      ${session.nodes.map((name) => html`<${Service} key=${name} name=${name} state=${states.current[name]} />`)}
    </div>
    <${MeasuredPages} />`
}

const linkTo = (path: string, title: string) =>
  html`<a key=${path} href=${`/measured/${path}`} target="_blank" rel="noopener">${title}</a>`

/** What the bench and the profiler have found of this release, where their pages are at hand. */
function MeasuredPages() {
  const { value: paths = [] } = useLoaded(measured, [])
  const graphs = paths.flatMap((path) => {
    const [, service, variant, work, title] = /^flame\/(.+)\/(.+)\/(.+)\/(.+)\.html$/.exec(path) ?? []
    return service ? [{ path, service, row: `${variant} ${work}`, title: title!.replaceAll('-', ' ') }] : []
  })
  const report = paths.find((path) => path.startsWith('bench/'))
  if (paths.length === 0) return undefined
  return html`<section class="panel measured">
    <div class="panel-head">
      <h2>Measured</h2>
      ${report && linkTo(report, "The bench's report")}
    </div>
    ${[...Map.groupBy(graphs, ({ service }) => service)].map(
      ([service, ofService]) =>
        html`<details key=${service}>
          <summary>Flame graphs of ${service}</summary>
          <dl>
            ${[...Map.groupBy(ofService, ({ row }) => row)].map(
              ([row, some]) =>
                html`<dt key=${row}>${row}</dt>
                  <dd>${some.map(({ path, title }) => linkTo(path, title))}</dd>`,
            )}
          </dl>
        </details>`,
    )}
  </section>`
}

/** The metrics of the node that calls YouTube: only it knows the numbers of all campaigns. None where it does not answer. */
function quotaIn(states: Record<string, NodeObservation>): readonly Sample[] {
  const all = Object.entries(states).flatMap(([name, { reading }]) =>
    reading && /^stats\b/.test(name) ? [reading.samples] : [],
  )
  return all.find((samples) => figure(samples, 'stats_polling') !== 0) ?? []
}

interface QuotaProps {
  readonly samples: readonly Sample[]
  readonly source: string | undefined
  readonly upstream: UpstreamStatus | undefined
}

const UNKNOWN = { value: '–', note: 'unknown' }

/** The quota of the day: of `GET /upstream` of stats, or of its metrics. */
function quotaLeft(samples: readonly Sample[], upstream: UpstreamStatus | undefined) {
  const used = upstream?.budget?.used ?? figure(samples, 'stats_quota_units_used')
  const limit = upstream?.budget ? (upstream.budget.limit ?? 0) : figure(samples, 'stats_quota_units_budget')
  if (limit === 0) return { value: '–', note: 'no limit' }
  if (limit === undefined || used === undefined) return UNKNOWN
  const renewal = formats.moment(nextRenewal(Date.now()))
  return { value: formats.count(Math.max(0, limit - used)), note: `of ${formats.count(limit)}, renewed ${renewal}` }
}

function freshness(samples: readonly Sample[]) {
  const campaigns = figure(samples, 'stats_collections')
  const stale = figure(samples, 'stats_collections_stale')
  if (campaigns === undefined || stale === undefined) return UNKNOWN
  const value = formats.count(campaigns)
  if (campaigns === 0) return { value, note: 'none has numbers' }
  return { value, note: stale === 0 ? 'all fresh' : `${formats.count(stale)} with old numbers` }
}

function Quota({ samples, source, upstream }: QuotaProps) {
  const interval = figure(samples, 'stats_refresh_interval_seconds')
  const sources = { youtube: ['YouTube', 'YouTube Data API'], 'stand-in': ['Stand-in', 'invented numbers'] } as const
  const [from, note] = sources[source as keyof typeof sources] ?? [UNKNOWN.value, UNKNOWN.note]
  const quota = quotaLeft(samples, upstream)
  const campaigns = freshness(samples)
  return html`<dl class="cards">
    <${Card} title="Source" value=${from}>${upstream?.source?.startsWith('http') ? upstream.source : note}</${Card}>
    <${Card} title="Quota left today" value=${quota.value}>${quota.note}</${Card}>
    <${Card} title="Refreshed every" value=${interval === undefined ? UNKNOWN.value : `${formats.count(interval)} s`}
      >${interval === undefined ? UNKNOWN.note : 'as the quota allows'}</${Card}
    >
    <${Card} title="Campaigns" value=${campaigns.value}>${campaigns.note}</${Card}>
  </dl>`
}

/** Why YouTube gives no numbers, and what to do about it. */
function UpstreamFault({ upstream }: { upstream: UpstreamStatus | undefined }) {
  if (!isFailing(upstream)) return null
  const { since, retryAt, key } = upstream
  const time = (at: string) => html`<${Clock} at=${at} />`
  return html`<section class="panel" aria-label="YouTube">
    <div class="panel-head">
      <h2>YouTube gives no numbers</h2>
      <span class="dot lost">${upstream.state}</span>
    </div>
    ${reasonsOf(upstream).map((text) => html`<p key=${text}>${text}</p>`)}
    <p class="quiet">
      ${key && html`<span>API key ${key}. </span>`} ${since && html`<span>Since ${time(since)}. </span>`}
      ${retryAt && html`<span>Next attempt ${time(retryAt)}.</span>`}
    </p>
  </section>`
}

import { ServiceError } from '@influencer-stats/runtime/service-error'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, measured } from '../api.ts'
import { isFailing, reasonsOf, type UpstreamStatus } from '../core/upstream.ts'
import { between, figure, readMetrics, type Sample } from '../core/prometheus.ts'
import { nextRenewal } from '../core/pacific.ts'
import { pathThrough } from '../core/series.ts'
import { useLoaded, useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { Card, Clock } from '../parts/figures.ts'
import { formats, useAvailability, useShared } from '../session.ts'

/** Figures are read so often (ms), and so many readings are shown. */
const EVERY = 5_000
const SHOWN = 60
/** A node that takes longer does not answer (ms). */
const REPLY_TIMEOUT_MS = 6_000
const DURATIONS = 'http_request_duration_seconds'

interface Reading {
  readonly at: number
  readonly samples: readonly Sample[]
}

/** One service at one time. */
interface State {
  readonly isReady: boolean
  /** Why it is not ready. */
  readonly fault?: string
  readonly reading?: Reading
  /** Requests a second, and how long 99 of 100 took at most (ms). */
  readonly rates: readonly number[]
  readonly latencies: readonly number[]
}

async function look(node: string, before: State | undefined): Promise<State> {
  const { rates = [], latencies = [] } = before ?? {}
  try {
    const signal = AbortSignal.timeout(REPLY_TIMEOUT_MS)
    const read = <T>(path: string) => ask<T>('GET', `/api/${node}/${path}`, undefined, signal)
    const [text] = await Promise.all([read<string>('metrics'), read('readyz')])
    const reading = { at: Date.now(), samples: readMetrics(text) }
    if (!before?.reading) return { isReady: true, reading, rates, latencies }
    const { total, quantile } = between(before.reading.samples, reading.samples, DURATIONS, 0.99)
    const seconds = (reading.at - before.reading.at) / 1_000
    const add = (values: readonly number[], value: number) => [...values, value].slice(-SHOWN)
    return {
      isReady: true,
      reading,
      rates: add(rates, total / seconds),
      latencies: quantile === undefined ? latencies : add(latencies, 1_000 * quantile),
    }
  } catch (error) {
    const isUnready = error instanceof ServiceError && error.code === 'NOT_READY'
    const fault = isUnready ? `not ready${error.detail ? ` (${error.detail})` : ''}` : 'does not answer'
    return { isReady: false, fault, rates, latencies }
  }
}

/** How all services do. */
export function Health() {
  useTitle('Health')
  const { session } = useShared()
  const { status } = useAvailability()
  const states = useRef<Record<string, State>>({})
  const [, tell] = useState(0)
  useEffect(() => {
    let isGone = false
    async function read() {
      const found = await Promise.all(
        session.nodes.map(async (name) => [name, await look(name, states.current[name])] as const),
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
function quotaIn(states: Record<string, State>): readonly Sample[] {
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

/** What a node is asked about that has a log. */
const LOG_FIGURES = [
  ['log_applied', 'places in the log'],
  ['log_lag', 'behind'],
] as const
/** A node hears of the log each second; one that has not had all of it for longer is behind (s). */
const BEHIND = 3

/** What a service is asked about besides what all are: figure and title. */
const FIGURES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  stats: [
    ['stats_puts_waiting', 'waiting to be told'],
    ['stats_puts_failed_total', 'not taken'],
  ],
  sse: [
    ['sse_streams', 'streams'],
    ['sse_lag_values', 'values waiting'],
    ['sse_streams_cut_total', 'cut'],
  ],
  prices: [['prices_in_catalog', 'prices']],
}

const busy = (threads: readonly Sample[]) => formats.percent(Math.max(...threads.map(({ value }) => value)))

function Service({ name, state }: { name: string; state: State | undefined }) {
  const [service = '', node] = name.split('.')
  const ready = state?.isReady ? state : undefined
  const samples = state?.reading?.samples ?? []
  const memory = figure(samples, 'process_resident_memory_bytes')
  const threads = samples.filter((sample) => sample.name === 'thread_event_loop_utilization')
  const [dot, words] = standing(state, figure(samples, `${service}_log_silence_seconds`) ?? 0)
  const figures = [
    ...LOG_FIGURES.map(([figureName, title]) => [`${service}_${figureName}`, title] as const),
    ...(FIGURES[service] ?? []),
  ]
  const polling = figure(samples, 'stats_polling')
  const facts = [
    polling === undefined ? undefined : polling ? 'asks YouTube' : 'another node asks YouTube',
    threads.length > 0
      ? `${threads.length} ${threads.length === 1 ? 'thread' : 'threads'}, ${busy(threads)} busy`
      : undefined,
    memory === undefined ? undefined : `${formats.count(memory / 1_048_576)} MB`,
    ...figures.map(([figureName, title]) => {
      const value = figure(samples, figureName)
      return value === undefined ? undefined : `${formats.count(value)} ${title}`
    }),
  ].filter(Boolean)
  return html`<section class="panel service" aria-label=${node ? `${service}, node ${node}` : service}>
    <div class="panel-head">
      <h2>${service}${node && html` <span class="quiet">node ${node}</span>`}</h2>
      <span class=${`dot ${dot}`}>${words}</span>
    </div>
    <p class="quiet">${facts.join(' · ')}</p>
    ${service === 'sse' && html`<${Topics} node=${name} turn=${state?.reading?.at} />`}
    <div class="pair">
      <${Small}
        title="Requests a second"
        values=${ready?.rates ?? []}
        text=${(value: number) => formats.money(value)}
      />
      <${Small} title="p99" values=${ready?.latencies ?? []} text=${(value: number) => `${formats.money(value)} ms`} />
    </div>
  </section>`
}

const TOPICS_SHOWN = 5
/** Of who only wants to know that the broadcaster is there. */
const WATCHED = '(none)'

/** How a node is, as a dot and in words. @param silence for how long it has not had all of the log (s) */
function standing(state: State | undefined, silence: number): [dot: string, words: string] {
  if (!state) return ['connecting', 'asking…']
  if (!state.isReady) return ['lost', state.fault ?? 'does not answer']
  return silence > BEHIND ? ['lost', `behind the log for ${formats.count(silence)} s`] : ['live', 'ready']
}

/** Which topics have the most streams. @param turn read again when there is another */
function Topics({ node, turn }: { node: string; turn: number | undefined }) {
  const { value } = useLoaded(
    () => ask<{ topics: { topic: string; streams: number }[] }>('GET', `/api/${node}/connections`),
    [turn],
  )
  if (turn === undefined || !value) return null
  const topics = value.topics.filter(({ topic }) => topic !== WATCHED).slice(0, TOPICS_SHOWN)
  return html`<p class="quiet">
    ${topics.map(({ topic, streams }) => `${topic}: ${formats.count(streams)}`).join(' · ') || 'no topic is waited for'}
  </p>`
}

const WIDTH = 220
const HEIGHT = 44

function Small({ title, values, text }: { title: string; values: readonly number[]; text(value: number): string }) {
  const path = pathThrough(values, WIDTH, HEIGHT, 0)
  const last = values.at(-1)
  return html`<figure class="small">
    <figcaption class="quiet">${title} <b>${last === undefined ? '–' : text(last)}</b></figcaption>
    <svg class="sparkline" viewBox=${`0 -2 ${WIDTH} ${HEIGHT + 4}`} preserveAspectRatio="none" aria-hidden="true">
      ${path && html`<path class="line" d=${path} />`}
    </svg>
  </figure>`
}

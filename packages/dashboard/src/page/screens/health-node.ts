import { ServiceError } from '@influencer-stats/runtime/service-error'
import { requestJson } from '../api.ts'
import { findOutageCode, type LogServers, type NodeLog, type NodeWrites } from '../core/log-overview.ts'
import { compareHistograms, sumMetric, readMetrics, type PrometheusSample } from '../core/prometheus.ts'
import { drawPath } from '../core/series.ts'
import { useLoaded } from '../hooks.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'

/** Maximum number of readings in a chart. */
const MAX_POINTS = 60
/** Timeout of the requests to a node (ms). A node that does not reply by then counts as unavailable. */
const REPLY_TIMEOUT_MS = 6_000
const DURATION_METRIC = 'http_request_duration_seconds'

interface MetricsReading {
  readonly at: number
  readonly samples: readonly PrometheusSample[]
}

/** One node at one time. */
export interface NodeObservation {
  readonly isReady: boolean
  /** The reason why the node is not ready. */
  readonly fault?: string
  readonly reading?: MetricsReading
  /** What the node reports about its log. Undefined for a standalone service. */
  readonly log?: NodeLog | undefined
  /** Requests per second and the 99th percentile of their duration (ms), oldest first, up to `MAX_POINTS` values. */
  readonly rates: readonly number[]
  readonly latencies: readonly number[]
}

/** Reads the metrics of a node and whether it is ready. @param before the last observation */
export async function observeNode(node: string, before: NodeObservation | undefined): Promise<NodeObservation> {
  const { rates = [], latencies = [] } = before ?? {}
  const signal = AbortSignal.timeout(REPLY_TIMEOUT_MS)
  const read = <T>(path: string) => requestJson<T>('GET', `/api/${node}/${path}`, undefined, signal)
  const readLog = async (writes: NodeWrites): Promise<NodeLog> => ({
    node,
    writes,
    log: (await read<{ log?: LogServers }>('node').catch(() => undefined))?.log,
  })
  try {
    const [text, { writes }] = await Promise.all([read<string>('metrics'), read<{ writes?: NodeWrites }>('readyz')])
    const log = writes && (await readLog(writes))
    const reading = { at: Date.now(), samples: readMetrics(text) }
    if (!before?.reading) return { isReady: true, reading, log, rates, latencies }
    const { total, quantile } = compareHistograms(before.reading.samples, reading.samples, DURATION_METRIC, 0.99)
    const seconds = (reading.at - before.reading.at) / 1_000
    const add = (values: readonly number[], value: number) => [...values, value].slice(-MAX_POINTS)
    return {
      isReady: true,
      reading,
      log,
      rates: add(rates, total / seconds),
      latencies: quantile === undefined ? latencies : add(latencies, 1_000 * quantile),
    }
  } catch (error) {
    const isUnready = error instanceof ServiceError && error.code === 'NOT_READY'
    const fault = isUnready ? `not ready${error.detail ? ` (${error.detail})` : ''}` : 'does not answer'
    const code = isUnready ? findOutageCode(error.detail) : undefined
    // Of a node that does not answer, nothing is known about its log. The service remains one with a log.
    const log = code ? await readLog({ ready: false, isEmpty: true, code }) : before?.log && { node }
    return { isReady: false, fault, log, rates, latencies }
  }
}

/** The metrics of a node that has a log. */
const LOG_METRICS = [
  ['log_applied', 'log entries'],
  ['log_lag', 'entries behind'],
] as const
/** A node requests the state of the log every second. A node whose staleness exceeds this is behind the log (s). */
const MAX_STALENESS_S = 3

/** The metrics of each service, in addition to those of all services: metric and title. */
const SERVICE_METRICS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  stats: [
    ['stats_publish_waiting', 'to publish'],
    ['stats_publish_failed_total', 'failed to publish'],
  ],
  sse: [
    ['sse_streams', 'streams'],
    ['sse_fanout_backlog', 'values in fan-out'],
    ['sse_streams_cut_total', 'cut'],
  ],
  prices: [['prices_catalog_size', 'prices']],
}

const formatBusy = (threads: readonly PrometheusSample[]) =>
  formats.percent(Math.max(...threads.map(({ value }) => value)))

/** The panel of one node. */
export function Service({ name, state }: { name: string; state: NodeObservation | undefined }) {
  const [service = '', node] = name.split('.')
  const ready = state?.isReady ? state : undefined
  const samples = state?.reading?.samples ?? []
  const memory = sumMetric(samples, 'process_resident_memory_bytes')
  const threads = samples.filter((sample) => sample.name === 'thread_event_loop_utilization')
  const [dot, statusText] = toNodeStatus(state, sumMetric(samples, `${service}_log_staleness_seconds`) ?? 0)
  const rows = [
    ...LOG_METRICS.map(([metricName, title]) => [`${service}_${metricName}`, title] as const),
    ...(SERVICE_METRICS[service] ?? []),
  ]
  const polling = sumMetric(samples, 'stats_poller_leader')
  const facts = [
    polling === undefined ? undefined : polling ? 'polls YouTube' : 'another node polls YouTube',
    threads.length > 0
      ? `${threads.length} ${threads.length === 1 ? 'thread' : 'threads'}, ${formatBusy(threads)} busy`
      : undefined,
    memory === undefined ? undefined : `${formats.count(memory / 1_048_576)} MB`,
    ...rows.map(([metricName, title]) => {
      const value = sumMetric(samples, metricName)
      return value === undefined ? undefined : `${formats.count(value)} ${title}`
    }),
  ].filter(Boolean)
  return html`<section class="panel service" aria-label=${node ? `${service}, node ${node}` : service}>
    <div class="panel-head">
      <h2>${service}${node && html` <span class="quiet">node ${node}</span>`}</h2>
      <span class=${`dot ${dot}`}>${statusText}</span>
    </div>
    <p class="quiet">${facts.join(' · ')}</p>
    ${service === 'sse' && html`<${Topics} node=${name} turn=${state?.reading?.at} />`}
    <div class="pair">
      <${SmallChart}
        title="Requests per second"
        values=${ready?.rates ?? []}
        text=${(value: number) => formats.money(value)}
      />
      <${SmallChart}
        title="p99"
        values=${ready?.latencies ?? []}
        text=${(value: number) => `${formats.money(value)} ms`}
      />
    </div>
  </section>`
}

const MAX_TOPICS = 5
/**
 * A topic without values. stats opens a stream of it at sse, to learn the epoch of sse. A new epoch means that sse lost its
 * values.
 */
const WATCH_TOPIC = '(none)'

/** The state of a node, as a dot and in words. @param stalenessS time since it last knew that it had applied the whole log (s) */
function toNodeStatus(state: NodeObservation | undefined, stalenessS: number): [dot: string, words: string] {
  if (!state) return ['connecting', 'loading…']
  if (!state.isReady) return ['lost', state.fault ?? 'does not answer']
  return stalenessS > MAX_STALENESS_S
    ? ['lost', `behind the log for ${formats.count(stalenessS)} s`]
    : ['live', 'ready']
}

/** The topics with the most streams. @param turn a new value causes a new read */
function Topics({ node, turn }: { node: string; turn: number | undefined }) {
  const { value } = useLoaded(
    () => requestJson<{ topics: { topic: string; streams: number }[] }>('GET', `/api/${node}/connections`),
    [node],
    [turn],
  )
  if (turn === undefined || !value) return null
  const topics = value.topics.filter(({ topic }) => topic !== WATCH_TOPIC).slice(0, MAX_TOPICS)
  return html`<p class="quiet">
    ${topics.map(({ topic, streams }) => `${topic}: ${formats.count(streams)}`).join(' · ') || 'no open topics'}
  </p>`
}

const WIDTH_PX = 220
const HEIGHT_PX = 44

function SmallChart({
  title,
  values,
  text,
}: {
  title: string
  values: readonly number[]
  text(value: number): string
}) {
  const path = drawPath(values, WIDTH_PX, HEIGHT_PX, 0)
  const last = values.at(-1)
  return html`<figure class="small">
    <figcaption class="quiet">${title} <b>${last === undefined ? '–' : text(last)}</b></figcaption>
    <svg class="sparkline" viewBox=${`0 -2 ${WIDTH_PX} ${HEIGHT_PX + 4}`} preserveAspectRatio="none" aria-hidden="true">
      ${path && html`<path class="line" d=${path} />`}
    </svg>
  </figure>`
}

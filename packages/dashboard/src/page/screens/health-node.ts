import { ServiceError } from '@influencer-stats/runtime/service-error'
import { requestJson } from '../api.ts'
import { findOutageCode, type LogServers, type NodeLog, type NodeWrites } from '../core/log-overview.ts'
import { compareHistograms, sumMetric, readMetrics, type PrometheusSample } from '../core/prometheus.ts'
import { drawPath } from '../core/series.ts'
import { useLoaded } from '../hooks.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'
import { text, type TextKey } from '../texts/texts.ts'

/** Maximum number of readings in a chart. */
const MAX_POINTS = 60
/** Timeout of the requests to a node (ms). A node that does not reply by then counts as unavailable. */
const REPLY_TIMEOUT_MS = 6_000
const DURATION_METRIC = 'http_request_duration_seconds'

/** The texts that state a metric. */
type MetricText = Extract<
  TextKey,
  | 'node.logEntries'
  | 'node.toPublish'
  | 'node.notPublished'
  | 'node.streams'
  | 'node.backlog'
  | 'node.cut'
  | 'node.prices'
>

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
    const [metrics, { writes }] = await Promise.all([read<string>('metrics'), read<{ writes?: NodeWrites }>('readyz')])
    const log = writes && (await readLog(writes))
    const reading = { at: Date.now(), samples: readMetrics(metrics) }
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
    const fault = isUnready ? describeUnready(error.detail) : text('node.noAnswer')
    const code = isUnready ? findOutageCode(error.detail) : undefined
    // Of a node that does not answer, nothing is known about its log. The service remains one with a log.
    const log = code ? await readLog({ ready: false, isEmpty: true, code }) : before?.log && { node }
    return { isReady: false, fault, log, rates, latencies }
  }
}

const describeUnready = (detail: string | undefined) =>
  detail ? text('node.notReadyDetail', { detail }) : text('node.notReady')

/** The metrics of a node that has a log. */
const LOG_METRICS = [
  ['log_applied', 'node.logEntries'],
  ['log_lag', 'node.entriesBehind'],
] as const
/** A node requests the state of the log every second. A node whose staleness exceeds this is behind the log (s). */
const MAX_STALENESS_S = 3

/** The metrics of each service, in addition to those of all services: metric and text. */
const SERVICE_METRICS: Readonly<Record<string, readonly (readonly [string, MetricText])[]>> = {
  stats: [
    ['stats_publish_waiting', 'node.toPublish'],
    ['stats_publish_failed_total', 'node.notPublished'],
  ],
  sse: [
    ['sse_streams', 'node.streams'],
    ['sse_fanout_backlog', 'node.backlog'],
    ['sse_streams_cut_total', 'node.cut'],
  ],
  prices: [['prices_catalog_size', 'node.prices']],
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
    ...LOG_METRICS.map(([metricName, key]) => [`${service}_${metricName}`, key] as const),
    ...(SERVICE_METRICS[service] ?? []),
  ]
  const polling = sumMetric(samples, 'stats_poller_leader')
  const facts = [
    polling === undefined ? undefined : text(polling ? 'node.polls' : 'node.otherPolls'),
    threads.length > 0 ? text('node.threads', { count: threads.length, busy: formatBusy(threads) }) : undefined,
    memory === undefined ? undefined : text('node.memory', { value: formats.count(memory / 1_048_576) }),
    ...rows.map(([metricName, key]) => {
      const value = sumMetric(samples, metricName)
      return value === undefined ? undefined : text(key, { count: value })
    }),
  ].filter(Boolean)
  return html`<section class="panel service" aria-label=${node ? text('node.label', { service, node }) : service}>
    <div class="panel-head">
      <h2>${service}${node && html` <span class="quiet">${text('node.number', { node })}</span>`}</h2>
      <span class=${`dot ${dot}`}>${statusText}</span>
    </div>
    <p class="quiet">${facts.join(' · ')}</p>
    ${service === 'sse' && html`<${Topics} node=${name} turn=${state?.reading?.at} />`}
    <div class="pair">
      <${SmallChart}
        title=${text('node.requests')}
        values=${ready?.rates ?? []}
        format=${(value: number) => formats.money(value)}
      />
      <${SmallChart}
        title=${text('node.p99')}
        values=${ready?.latencies ?? []}
        format=${(value: number) => text('node.milliseconds', { value: formats.money(value) })}
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
  if (!state) return ['connecting', text('node.loading')]
  if (!state.isReady) return ['lost', state.fault ?? text('node.noAnswer')]
  return stalenessS > MAX_STALENESS_S
    ? ['lost', text('node.behind', { seconds: formats.count(stalenessS) })]
    : ['live', text('node.ready')]
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
  const list = topics.map(({ topic, streams }) => `${topic} ${formats.count(streams)}`).join(' · ')
  return html`<p class="quiet">${list ? text('node.topics', { topics: list }) : text('node.noTopics')}</p>`
}

const WIDTH_PX = 220
const HEIGHT_PX = 44

function SmallChart({
  title,
  values,
  format,
}: {
  title: string
  values: readonly number[]
  format(value: number): string
}) {
  const path = drawPath(values, WIDTH_PX, HEIGHT_PX, 0)
  const last = values.at(-1)
  return html`<figure class="small">
    <figcaption class="quiet">${title} <b>${last === undefined ? '–' : format(last)}</b></figcaption>
    <svg class="sparkline" viewBox=${`0 -2 ${WIDTH_PX} ${HEIGHT_PX + 4}`} preserveAspectRatio="none" aria-hidden="true">
      ${path && html`<path class="line" d=${path} />`}
    </svg>
  </figure>`
}

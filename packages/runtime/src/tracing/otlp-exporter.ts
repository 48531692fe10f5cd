import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Outage } from '../async/outage.ts'
import { createSingleFlight } from '../async/single-flight.ts'
import { HttpClient, readText } from '../client/http-client.ts'
import { registerCounter } from '../metrics/counter.ts'
import type { Registry } from '../metrics/prom-client.ts'

/** A timed operation and its parent. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** Kind of the span, a number that OTLP defines. */
  readonly kind: number
  /** Start (ms since 1970). */
  readonly start: number
  /** End (ms since 1970). */
  readonly end: number
  readonly isFault: boolean
  readonly attributes: Readonly<Record<string, string | number>>
}

export interface SpanExporterOptions {
  /** URL of the collector, without `/v1/traces`. */
  readonly endpoint: string
  /** Headers for the collector, as `name=value,name=value`. Values are encoded as in URLs. */
  readonly headers: string
  readonly service: string
  readonly version: string
  readonly log: Pick<Logger, 'warn' | 'info'>
  readonly registry: Registry
}

/** Sends spans to a collector. */
export interface SpanExporter {
  add(span: Span): void
  /** Sends the remaining spans, unless the collector is too slow. Idempotent. */
  close(): Promise<void>
}

// Maximum number of spans that wait for the collector. Further spans are dropped.
const MAX_QUEUED_SPANS = 4_096
const MAX_BATCH_SPANS = 512
/** Longest time for which a span waits for other spans of its batch (ms). */
const FLUSH_INTERVAL_MS = 1_000
const REQUEST_TIMEOUT_MS = 5_000
/** Longest time that a thread waits for the collector when it ends (ms). */
const CLOSE_TIMEOUT_MS = 1_000

const toNanoseconds = (ms: number): string => BigInt(Math.round(ms * 1e6)).toString()

const toAttributes = (attributes: Span['attributes']) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))

const toOtlpSpan = ({ start, end, isFault, attributes, ...same }: Span) => ({
  ...same,
  startTimeUnixNano: toNanoseconds(start),
  endTimeUnixNano: toNanoseconds(Math.max(start, end)),
  attributes: toAttributes(attributes),
  ...(isFault && { status: { code: 2 } }),
})

function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.trim())
  return Object.fromEntries(
    pairs.filter(Boolean).map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [name.trim().toLowerCase(), decodeURIComponent(value.join('=').trim())]
    }),
  )
}

/**
 * Creates an exporter of OTLP over HTTP, in JSON. The SDK of OpenTelemetry is not used: with its exporter it has 21 MB,
 * compared with 46 MB for all packages that the services need, and its spans would cost a request more than its reply.
 */
export function createSpanExporter({
  endpoint,
  headers,
  service,
  version,
  log,
  registry,
}: SpanExporterOptions): SpanExporter {
  const client = new HttpClient(endpoint, { timeout: REQUEST_TIMEOUT_MS, connections: 1 })
  const given = parseHeaders(headers)
  const resource = {
    attributes: toAttributes({
      'service.name': service,
      'service.namespace': 'influencer-stats',
      'service.version': version,
      'process.pid': process.pid,
    }),
  }
  const scope = { name: 'influencer-stats', version }
  let queuedSpans: Span[] = []
  const outage = new Outage({
    onStart: (error) => log.warn({ err: error, endpoint }, 'spans cannot be sent to the collector'),
    onEnd: () => log.info('the collector accepts spans again'),
  })
  const counts = { sent: 0, dropped: 0 }
  registerCounter(registry, 'spans_sent_total', 'Spans that the collector accepted.', () => counts.sent)
  registerCounter(
    registry,
    'spans_dropped_total',
    'Spans dropped because the collector was unavailable or too slow, or refused them.',
    () => counts.dropped,
  )

  async function post(spans: readonly Span[]): Promise<void> {
    const body = JSON.stringify({
      resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(toOtlpSpan) }] }],
    })
    const reply = await client.request('/v1/traces', {
      method: 'POST',
      headers: { ...given, 'content-type': 'application/json' },
      body,
    })
    // An unread reply would hold the only connection.
    await readText(reply)
    if (reply.statusCode! >= 300) throw new Error(`the collector responded with ${reply.statusCode}`)
  }

  async function flush(): Promise<void> {
    while (queuedSpans.length > 0) {
      const spans = queuedSpans.slice(0, MAX_BATCH_SPANS)
      queuedSpans = queuedSpans.slice(MAX_BATCH_SPANS)
      try {
        await post(spans)
        counts.sent += spans.length
        outage.succeed()
      } catch (error) {
        counts.dropped += spans.length
        outage.fail(error)
      }
    }
  }

  const flushOnce = createSingleFlight(flush)
  const timer = setInterval(flushOnce, FLUSH_INTERVAL_MS).unref()

  return {
    add(span) {
      if (queuedSpans.length >= MAX_QUEUED_SPANS) return void counts.dropped++
      if (queuedSpans.push(span) === MAX_BATCH_SPANS) void flushOnce()
    },
    async close() {
      clearInterval(timer)
      // Twice, because spans may be added while others are being sent.
      await Promise.race([flushOnce().then(flushOnce), delay(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
      counts.dropped += queuedSpans.length
      queuedSpans = []
      client.close()
    },
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { counter } from '../metrics/counter.ts'
import type { Registry } from '../metrics/prom-client.ts'

/** What took how long, as a part of what. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** As OTLP counts them. */
  readonly kind: number
  /** Since 1970 (ms). */
  readonly start: number
  readonly end: number
  readonly isFault: boolean
  readonly attributes: Readonly<Record<string, string | number>>
}

export interface ExporterOptions {
  /** Of the collector: `/v1/traces` is behind it. */
  readonly endpoint: string
  /** Headers for it, as `name=value,name=value`, values as in URLs. */
  readonly headers: string
  readonly service: string
  readonly version: string
  readonly log: Pick<Logger, 'warn' | 'info'>
  readonly registry: Registry
}

/** Sends spans to a collector. */
export interface Exporter {
  add(span: Span): void
  /** Sends what is left, as far as the collector takes it. Idempotent. */
  close(): Promise<void>
}

// Spans that wait for the collector; more are dropped.
const MOST_WAITING = 4_096
const MOST_AT_ONCE = 512
/** A span waits for others for so long (ms). */
const EVERY = 1_000
const TIMEOUT = 5_000
/** What a service that ends waits for the collector (ms). */
const CLOSE_WITHIN = 1_000

const nanoseconds = (ms: number): string => BigInt(Math.round(ms * 1e6)).toString()

const attributesOf = (attributes: Span['attributes']) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))

const spanText = ({ start, end, isFault, attributes, ...same }: Span) => ({
  ...same,
  startTimeUnixNano: nanoseconds(start),
  endTimeUnixNano: nanoseconds(Math.max(start, end)),
  attributes: attributesOf(attributes),
  ...(isFault && { status: { code: 2 } }),
})

function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.trim())
  return Object.fromEntries(
    pairs.filter(Boolean).map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [name.trim().toLowerCase(), decodeURIComponent(value.join('=').trim())]
    }),
  )
}

/**
 * An exporter of OTLP over HTTP, in JSON: the SDK of OpenTelemetry would be a third of all that the services need, and
 * its spans cost a request more than its answer.
 */
export function createExporter({ endpoint, headers, service, version, log, registry }: ExporterOptions): Exporter {
  const target = new URL(`${endpoint.replace(/\/+$/, '')}/v1/traces`)
  const { request, Agent } = process.getBuiltinModule(target.protocol === 'https:' ? 'node:https' : 'node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const given = headersOf(headers)
  const resource = {
    attributes: attributesOf({
      'service.name': service,
      'service.namespace': 'influencer-stats',
      'service.version': version,
      'process.pid': process.pid,
    }),
  }
  const scope = { name: 'influencer-stats', version }
  let waiting: Span[] = []
  let sending: Promise<void> | undefined
  let isAway = false
  const counts = { sent: 0, dropped: 0 }
  counter(registry, 'spans_sent_total', 'Spans that the collector has taken.', () => counts.sent)
  counter(registry, 'spans_dropped_total', 'Spans that the collector could not be given.', () => counts.dropped)

  function post(spans: readonly Span[]): Promise<void> {
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(spanText) }] }] })
    return new Promise((resolve, reject) => {
      const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const sent = request(
        target,
        { method: 'POST', agent, headers: { ...given, ...length }, timeout: TIMEOUT },
        (reply) => {
          reply.resume().on('error', reject)
          const { statusCode: status = 0 } = reply
          reply.on('end', () => (status < 300 ? resolve() : reject(new Error(`the collector answered ${status}`))))
        },
      )
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT} ms`)))
      sent.on('error', reject).end(body)
    })
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, MOST_AT_ONCE)
      waiting = waiting.slice(MOST_AT_ONCE)
      try {
        await post(spans)
        counts.sent += spans.length
        if (isAway) log.info('spans reach the collector again')
        isAway = false
      } catch (error) {
        counts.dropped += spans.length
        if (!isAway) log.warn({ err: error, endpoint }, 'spans do not reach the collector')
        isAway = true
      }
    }
  }

  const flushOnce = () => (sending ??= flush().finally(() => (sending = undefined)))
  const timer = setInterval(flushOnce, EVERY).unref()

  return {
    add(span) {
      if (waiting.length >= MOST_WAITING) return void counts.dropped++
      if (waiting.push(span) === MOST_AT_ONCE) void flushOnce()
    },
    async close() {
      clearInterval(timer)
      // Twice: some may have come while others were on their way.
      await Promise.race([flushOnce().then(flushOnce), delay(CLOSE_WITHIN, undefined, { ref: false })])
      counts.dropped += waiting.length
      waiting = []
      agent.destroy()
    },
  }
}

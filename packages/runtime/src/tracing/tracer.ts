import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { RequestHeaders } from '../net/request.ts'
import type { CommonSettings } from '../settings/settings.ts'
import { getCurrentTrace, createTrace, parseTraceparent, type Trace } from '../trace.ts'
import { createSpanExporter, type SpanExporterOptions, type Span } from './otlp-exporter.ts'

// Kinds of spans in OTLP.
const SERVER_KIND = 2
const CLIENT_KIND = 3

/** A call to another service. */
export interface TracedCall {
  /** Headers for the call: the ids of the request that it belongs to. */
  readonly headers: Record<string, string>
  /** Ends the call. @param status status of the reply, or a word such as `broken` if there is none */
  end(status: number | string): void
}

/** Data of a completed request. */
export interface RequestSummary {
  readonly method: string
  /** Route as declared, because the URL of a request may contain a secret. */
  readonly route: string
  readonly status: number
  /**
   * Time when the server had read the head, or with the raw server adapter the whole request (ms, `performance.now()`).
   */
  readonly startedAt: number
}

/** Creates spans for requests and for calls to other services, and sends them to a collector. */
export interface Tracer {
  /** Creates the ids of a request that has arrived: as a part of its client's trace, or of a new one. */
  startRequest(headers: RequestHeaders, requestId: string): Trace
  endRequest(trace: Trace, summary: RequestSummary): void
  /** Begins a call. It belongs to the current request, if there is one. @param upstream name of the called service */
  startCall(upstream: string): TracedCall
  /** Sends the remaining spans. Idempotent. */
  close(): Promise<void>
}

type TracerSettings = Pick<CommonSettings, 'traceSample'>

const createId = (bytes: number) => randomBytes(bytes).toString('hex')
const formatTraceparent = (traceId: string, spanId: string) => `00-${traceId}-${spanId}-01`

export function createTracer(options: SpanExporterOptions, { traceSample }: TracerSettings): Tracer {
  const exporter = createSpanExporter(options)
  const sampleRatio = Number(traceSample)
  const isSampled = () => sampleRatio > 0 && Math.random() < sampleRatio

  /** Creates the ids of a span in this trace, or in a new one. Undefined if the span is not sampled. */
  function createSpan(traceparent: string | undefined) {
    const parent = parseTraceparent(traceparent)
    if (parent ? !parent.isSampled : !isSampled()) return undefined
    return { traceId: parent?.traceId ?? createId(16), spanId: createId(8), parentSpanId: parent?.spanId }
  }

  function send(span: Omit<Span, 'start' | 'end'>, startedAt: number): void {
    const { timeOrigin } = performance
    exporter.add({ ...span, start: timeOrigin + startedAt, end: timeOrigin + performance.now() })
  }

  return {
    startRequest(headers, requestId) {
      const trace = createTrace(headers, requestId)
      const span = createSpan(trace.traceparent)
      if (!span) return trace
      const { traceId, spanId, parentSpanId } = span
      return { requestId, traceparent: formatTraceparent(traceId, spanId), span: { parentSpanId } }
    },
    endRequest({ requestId, traceparent, span }, { method, route, status, startedAt }) {
      if (!span) return
      const { traceId, spanId } = parseTraceparent(traceparent)!
      const attributes = {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'request.id': requestId,
      }
      const { parentSpanId } = span
      const isFault = status >= 500
      send(
        { traceId, spanId, parentSpanId, name: `${method} ${route}`, kind: SERVER_KIND, isFault, attributes },
        startedAt,
      )
    },
    startCall(upstream) {
      const startedAt = performance.now()
      const current = getCurrentTrace()
      // Calls for a request that is not traced are not traced either.
      const span = current && !current.span ? undefined : createSpan(current?.traceparent)
      const headers: Record<string, string> = {}
      if (current) headers['x-request-id'] = current.requestId
      const traceparent = span ? formatTraceparent(span.traceId, span.spanId) : current?.traceparent
      if (traceparent !== undefined) headers.traceparent = traceparent
      return {
        headers,
        end(status) {
          if (!span) return
          const isAnswered = typeof status === 'number'
          const outcome = isAnswered ? 'http.response.status_code' : 'error.type'
          const attributes = { 'peer.service': upstream, [outcome]: status }
          const isFault = !isAnswered || status >= 400
          send({ ...span, name: upstream, kind: CLIENT_KIND, isFault, attributes }, startedAt)
        },
      }
    },
    close: () => exporter.close(),
  }
}

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { RequestHeaders } from '../door/hot-route.ts'
import type { CommonSettings } from '../settings/settings.ts'
import { currentTrace, traceOf, traceParts, type Trace } from '../trace.ts'
import { createExporter, type ExporterOptions, type Span } from './otlp.ts'

// As OTLP counts them.
const SERVER = 2
const CLIENT = 3

/** A call of another service. */
export interface TracedCall {
  /** The ids that it carries. */
  readonly headers: Record<string, string>
  /** @param status of the reply, or a word where there is none */
  ended(status: number | string): void
}

/** What is told of a request once it is answered. */
export interface Answered {
  readonly method: string
  /** As it was declared: what stands in an address may be a secret. */
  readonly route: string
  readonly status: number
  /** When it was there (ms, `performance.now()`). */
  readonly startedAt: number
}

/** Makes spans of requests and of the calls that are made for them, and sends them to a collector. */
export interface Tracer {
  /** What a request that has come is known by: as a part of what its client does, or as a beginning. */
  begin(headers: RequestHeaders, requestId: string): Trace
  ended(trace: Trace, answered: Answered): void
  /** Begins a call for the request that is being answered, or for none. */
  call(upstream: string): TracedCall
  /** Sends what is left. Idempotent. */
  close(): Promise<void>
}

type TracerSettings = Pick<CommonSettings, 'traceSample'>

const idOf = (bytes: number) => randomBytes(bytes).toString('hex')
const parentOf = (traceId: string, spanId: string) => `00-${traceId}-${spanId}-01`

export function createTracer(options: ExporterOptions, { traceSample }: TracerSettings): Tracer {
  const exporter = createExporter(options)
  const share = Number(traceSample)
  const isChosen = () => share > 0 && Math.random() < share

  /** A new span of this trace, or of a new one; nothing where it is not to be followed. */
  function spanIn(traceparent: string | undefined) {
    const parent = traceParts(traceparent)
    if (parent ? !parent.isSampled : !isChosen()) return undefined
    return { traceId: parent?.traceId ?? idOf(16), spanId: idOf(8), parentSpanId: parent?.spanId }
  }

  function send(span: Omit<Span, 'start' | 'end'>, startedAt: number): void {
    const { timeOrigin } = performance
    exporter.add({ ...span, start: timeOrigin + startedAt, end: timeOrigin + performance.now() })
  }

  return {
    begin(headers, requestId) {
      const trace = traceOf(headers, requestId)
      const span = spanIn(trace.traceparent)
      if (!span) return trace
      const { traceId, spanId, parentSpanId } = span
      return { requestId, traceparent: parentOf(traceId, spanId), span: { parentSpanId } }
    },
    ended({ requestId, traceparent, span }, { method, route, status, startedAt }) {
      if (!span) return
      const { traceId, spanId } = traceParts(traceparent)!
      const attributes = {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'request.id': requestId,
      }
      const { parentSpanId } = span
      const isFault = status >= 500
      send({ traceId, spanId, parentSpanId, name: `${method} ${route}`, kind: SERVER, isFault, attributes }, startedAt)
    },
    call(upstream) {
      const startedAt = performance.now()
      const current = currentTrace()
      // What is done for a request that is not followed is not, either.
      const span = current && !current.span ? undefined : spanIn(current?.traceparent)
      const headers: Record<string, string> = {}
      if (current) headers['x-request-id'] = current.requestId
      const traceparent = span ? parentOf(span.traceId, span.spanId) : current?.traceparent
      if (traceparent !== undefined) headers.traceparent = traceparent
      return {
        headers,
        ended(status) {
          if (!span) return
          const isAnswered = typeof status === 'number'
          const outcome = isAnswered ? 'http.response.status_code' : 'error.type'
          const attributes = { 'peer.service': upstream, [outcome]: status }
          const isFault = !isAnswered || status >= 400
          send({ ...span, name: upstream, kind: CLIENT, isFault, attributes }, startedAt)
        },
      }
    },
    close: () => exporter.close(),
  }
}

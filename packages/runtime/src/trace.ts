import { AsyncLocalStorage } from 'node:async_hooks'

/** Headers that may contain ids. */
type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Ids of a request. The services that are called for the request get them too. */
export interface Trace {
  readonly requestId: string
  /**
   * Header field of W3C Trace Context that the client sent. It is passed on unchanged, unless this service creates
   * spans.
   */
  readonly traceparent?: string | undefined
  /**
   * Set if this service traces the request: `traceparent` then names the request's own span, and `parentSpanId` the
   * span of the client.
   */
  readonly span?: { readonly parentSpanId: string | undefined }
}

/** Content of a `traceparent`. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  /** True if the spans of the trace are recorded. */
  readonly isSampled: boolean
}

const current = new AsyncLocalStorage<Trace>()

/** Returns the ids of the request that is being answered, if known. */
export const getCurrentTrace = (): Trace | undefined => current.getStore()

/** Runs work as a part of a request. */
export const runInTrace = <T>(trace: Trace | undefined, work: () => T): T => (trace ? current.run(trace, work) : work())

/** Runs work outside the trace of the current request, because the work continues after the request. */
export const runOutsideTrace = <T>(work: () => T): T => current.exit(work)

// Characters that are safe in a header and in a log.
const REQUEST_ID = /^[\w.:@+/=-]{1,128}$/
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/

/** Returns the id that a client gave its request. Undefined if there is none or it is invalid. */
export function parseRequestId({ 'x-request-id': id }: TraceHeaders): string | undefined {
  return typeof id === 'string' && REQUEST_ID.test(id) ? id : undefined
}

/** Parses a `traceparent`. Undefined if it is invalid. */
export function parseTraceparent(traceparent: string | undefined): TraceParent | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? []
  return traceId === undefined ? undefined : { traceId, spanId: spanId!, isSampled: (parseInt(flags!, 16) & 1) === 1 }
}

/** Creates the ids that are passed on with a request. */
export function createTrace({ traceparent }: TraceHeaders, requestId: string): Trace {
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? { requestId, traceparent } : { requestId }
}

/** True if the client sent ids, by which its request can be recognized in other services. */
export const isTraced = (headers: TraceHeaders): boolean =>
  headers['x-request-id'] !== undefined || headers.traceparent !== undefined

/** Returns the headers for a call on behalf of the current request. Empty if there is no current request. */
export function getTraceHeaders(): Record<string, string> {
  const trace = getCurrentTrace()
  if (!trace) return {}
  const { requestId, traceparent } = trace
  return { 'x-request-id': requestId, ...(traceparent !== undefined && { traceparent }) }
}

/** Returns the ids for a log line. */
export function getTraceFields(trace = getCurrentTrace()): { requestId?: string; traceId?: string } {
  if (!trace) return {}
  const traceId = parseTraceparent(trace.traceparent)?.traceId
  return { requestId: trace.requestId, ...(traceId !== undefined && { traceId }) }
}

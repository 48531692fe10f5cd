import { AsyncLocalStorage } from 'node:async_hooks'

/** Headers among which there may be ids. */
type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>

/** What a request is known by, here and wherever it is passed on to. */
export interface Trace {
  readonly requestId: string
  /** Of who asks, as W3C Trace Context has it: passed on as it is, unless spans are made here. */
  readonly traceparent?: string | undefined
  /** Where the request is followed here: `traceparent` names its own span then, and this the one that it is a part of. */
  readonly span?: { readonly parentSpanId: string | undefined }
}

/** What a `traceparent` says. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  /** Whether its spans are kept. */
  readonly isSampled: boolean
}

const current = new AsyncLocalStorage<Trace>()

/** The request that is being answered, where that is known. */
export const getCurrentTrace = (): Trace | undefined => current.getStore()

/** Does something as a part of a request. */
export const runInTrace = <T>(trace: Trace | undefined, work: () => T): T => (trace ? current.run(trace, work) : work())

/** Does something that goes on after the request by which it was begun. */
export const runOutsideTrace = <T>(work: () => T): T => current.exit(work)

// What may stand in a header and in a log without harm.
const REQUEST_ID = /^[\w.:@+/=-]{1,128}$/
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/

/** The id that a client gave its request, if that can be one. */
export function parseRequestId({ 'x-request-id': id }: TraceHeaders): string | undefined {
  return typeof id === 'string' && REQUEST_ID.test(id) ? id : undefined
}

/** Nothing where it is none. */
export function parseTraceparent(traceparent: string | undefined): TraceParent | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? []
  return traceId === undefined ? undefined : { traceId, spanId: spanId!, isSampled: (parseInt(flags!, 16) & 1) === 1 }
}

/** What is passed on of a request. */
export function createTrace({ traceparent }: TraceHeaders, requestId: string): Trace {
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? { requestId, traceparent } : { requestId }
}

/** Whether a client wants to know its request again elsewhere. */
export const isTraced = (headers: TraceHeaders): boolean =>
  headers['x-request-id'] !== undefined || headers.traceparent !== undefined

/** The headers of a call that is made for the request that is being answered; none where nobody waits for it. */
export function getTraceHeaders(): Record<string, string> {
  const trace = getCurrentTrace()
  if (!trace) return {}
  const { requestId, traceparent } = trace
  return { 'x-request-id': requestId, ...(traceparent !== undefined && { traceparent }) }
}

/** The ids in a line of the log. */
export function getTraceFields(trace = getCurrentTrace()): { requestId?: string; traceId?: string } {
  if (!trace) return {}
  const traceId = parseTraceparent(trace.traceparent)?.traceId
  return { requestId: trace.requestId, ...(traceId !== undefined && { traceId }) }
}

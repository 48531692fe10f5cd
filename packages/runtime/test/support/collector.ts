import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A received span, with its attributes by name. */
export interface ReceivedSpan {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly status?: { readonly code: number }
  /** Since 1970 (ns). */
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, string>>
}

/** An OpenTelemetry collector: accepts OTLP over HTTP in JSON and checks it against its schema. */
export interface Collector {
  readonly url: string
  readonly spans: ReceivedSpan[]
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** Status of all further replies; 0: no reply. */
  replyStatus: number
}

const ID = { traceId: /^[\da-f]{32}$/, spanId: /^[\da-f]{16}$/ }

function toValues(attributes: any[]): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[type, content]] = Object.entries(value) as [[string, unknown]]
      if (!['stringValue', 'intValue'].includes(type) || typeof content !== 'string') throw new Error(`${key}: ${type}`)
      return [key, content]
    }),
  )
}

function toReceivedSpan(service: string, span: any): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, status, attributes, startTimeUnixNano, endTimeUnixNano } = span
  if (!ID.traceId.test(traceId) || !ID.spanId.test(spanId)) throw new Error(`${traceId} ${spanId}`)
  if (parentSpanId !== undefined && !ID.spanId.test(parentSpanId)) throw new Error(parentSpanId)
  const [start, end] = [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)]
  return { service, traceId, spanId, parentSpanId, name, kind, status, start, end, attributes: toValues(attributes) }
}

/** The collector ends with the test. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const requests: { path: string; headers: IncomingHttpHeaders }[] = []
  const server = createServer(async (request, reply) => {
    const body = (await json(request)) as any
    requests.push({ path: request.url!, headers: request.headers })
    if (collector.replyStatus === 200) {
      for (const { resource, scopeSpans } of body.resourceSpans) {
        const service = toValues(resource.attributes)['service.name']!
        for (const scope of scopeSpans) for (const span of scope.spans) spans.push(toReceivedSpan(service, span))
      }
    }
    if (collector.replyStatus === 0) return
    reply.writeHead(collector.replyStatus, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    replyStatus: 200,
  }
  return collector
}

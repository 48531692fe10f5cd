import { performance } from 'node:perf_hooks'
import { getTraceHeaders } from '../trace.ts'
import type { Tracer } from '../tracing/tracer.ts'
import { Histogram, type Registry } from './prom-client.ts'

const METRIC_NAME = 'upstream_request_duration_seconds'
const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface UpstreamContext {
  readonly registry: Registry
  readonly tracer: Tracer | undefined
}

/** A call to another service. */
export interface UpstreamCall {
  /** Headers for the call: the ids of the request that it belongs to. */
  readonly headers: Record<string, string>
  /** Ends the call. @param status status of the reply, or a word such as `broken` if there is none */
  end(status: number | string): void
}

/** Begins a call to another service. @param upstream name of that service */
export type UpstreamTimer = (upstream: string) => UpstreamCall

/** Creates the timer for calls to other services: durations by service and status, and spans if tracing is on. */
export function createUpstreamTimer({ registry, tracer }: UpstreamContext): UpstreamTimer {
  const durations =
    (registry.getSingleMetric(METRIC_NAME) as Histogram | undefined) ??
    new Histogram({
      name: METRIC_NAME,
      help: 'Time of calls to other services, by service and status of the reply.',
      labelNames: ['upstream', 'status'],
      buckets: DURATION_BUCKETS_S,
      registers: [registry],
    })
  return (upstream) => {
    const startedAt = performance.now()
    const span = tracer?.startCall(upstream)
    return {
      headers: span?.headers ?? getTraceHeaders(),
      end(status) {
        durations.observe({ upstream, status }, (performance.now() - startedAt) / 1_000)
        span?.end(status)
      },
    }
  }
}

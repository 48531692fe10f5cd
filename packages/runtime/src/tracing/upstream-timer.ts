import { performance } from 'node:perf_hooks'
import { getTraceHeaders } from '../trace.ts'
import type { TracedCall, Tracer } from './tracer.ts'
import { DurationHistogram } from '../metrics/duration-histogram.ts'
import { RouteMetrics } from '../metrics/request-metrics.ts'
import type { Registry } from '../metrics/prom-client.ts'

/** Upper bounds of the buckets. */
const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface UpstreamContext {
  readonly registry: Registry
  readonly tracer: Tracer | undefined
}

/** A call to another service. */
export type UpstreamCall = TracedCall

/** Begins a call to another service. @param upstream name of that service */
export type UpstreamTimer = (upstream: string) => UpstreamCall

/** A registry accepts one metric of a name, so all timers with the same registry share one histogram. */
const metricsByRegistry = new WeakMap<Registry, (upstream: string) => RouteMetrics>()

function createUpstreamMetrics(registry: Registry): (upstream: string) => RouteMetrics {
  const durations = new DurationHistogram(registry, {
    name: 'upstream_request_duration_seconds',
    help: 'Time of calls to other services, by service and status of the reply.',
    buckets: DURATION_BUCKETS_S,
  })
  const byUpstream = new Map<string, RouteMetrics>()
  return (upstream) => {
    const known = byUpstream.get(upstream) ?? new RouteMetrics({ upstream }, durations)
    byUpstream.set(upstream, known)
    return known
  }
}

/** Creates the timer for calls to other services: durations by service and status, and spans if tracing is on. */
export function createUpstreamTimer({ registry, tracer }: UpstreamContext): UpstreamTimer {
  const getMetrics = metricsByRegistry.get(registry) ?? createUpstreamMetrics(registry)
  metricsByRegistry.set(registry, getMetrics)
  return (upstream) => {
    const startedAt = performance.now()
    const span = tracer?.startCall(upstream)
    return {
      headers: span?.headers ?? getTraceHeaders(),
      end(status) {
        getMetrics(upstream).observe(status, (performance.now() - startedAt) / 1_000)
        span?.end(status)
      },
    }
  }
}

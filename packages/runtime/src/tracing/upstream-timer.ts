import { performance } from 'node:perf_hooks'
import { getTraceHeaders } from '../trace.ts'
import type { TracedCall, Tracer } from './tracer.ts'
import { DurationHistogram, type DurationSeries } from '../metrics/duration-histogram.ts'
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
const histograms = new WeakMap<Registry, UpstreamDurations>()

class UpstreamDurations {
  readonly #durations: DurationHistogram
  readonly #series = new Map<string, Map<number | string, DurationSeries>>()

  constructor(registry: Registry) {
    this.#durations = new DurationHistogram(registry, {
      name: 'upstream_request_duration_seconds',
      help: 'Time of calls to other services, by service and status of the reply.',
      buckets: DURATION_BUCKETS_S,
    })
  }

  observe(upstream: string, status: number | string, seconds: number): void {
    let statuses = this.#series.get(upstream)
    if (!statuses) this.#series.set(upstream, (statuses = new Map()))
    let series = statuses.get(status)
    if (!series) statuses.set(status, (series = this.#durations.createSeries({ upstream, status })))
    series.observe(seconds)
  }
}

/** Creates the timer for calls to other services: durations by service and status, and spans if tracing is on. */
export function createUpstreamTimer({ registry, tracer }: UpstreamContext): UpstreamTimer {
  const durations = histograms.get(registry) ?? new UpstreamDurations(registry)
  histograms.set(registry, durations)
  return (upstream) => new TimedCall(durations, upstream, tracer?.startCall(upstream))
}

class TimedCall implements UpstreamCall {
  readonly headers: Record<string, string>
  readonly #startedAt = performance.now()
  readonly #durations: UpstreamDurations
  readonly #upstream: string
  readonly #span: ReturnType<Tracer['startCall']> | undefined

  constructor(durations: UpstreamDurations, upstream: string, span: ReturnType<Tracer['startCall']> | undefined) {
    this.headers = span?.headers ?? getTraceHeaders()
    this.#durations = durations
    this.#upstream = upstream
    this.#span = span
  }

  end(status: number | string): void {
    this.#durations.observe(this.#upstream, status, (performance.now() - this.#startedAt) / 1_000)
    this.#span?.end(status)
  }
}

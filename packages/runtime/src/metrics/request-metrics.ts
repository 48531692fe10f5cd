import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { DurationHistogram, type DurationSeries } from './duration-histogram.ts'
import { Counter, Gauge, Registry } from './prom-client.ts'

// Upper bounds of the buckets (s).
const DURATION_BUCKETS_S = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Durations of the requests of one route, or of the calls of one service, with one series per status. */
export class RouteMetrics {
  readonly #labels: Record<string, string>
  readonly #durations: DurationHistogram
  readonly #series = new Map<number | string, DurationSeries>()

  constructor(labels: Record<string, string>, durations: DurationHistogram) {
    this.#labels = labels
    this.#durations = durations
  }

  /** @param status status of the reply, or a word such as `broken` if there is none */
  observe(status: number | string, seconds: number): void {
    let series = this.#series.get(status)
    if (!series) this.#series.set(status, (series = this.#durations.createSeries({ ...this.#labels, status })))
    series.observe(seconds)
  }
}

/** The durations of requests, by route and status. */
export class RequestMetrics {
  readonly #durations: DurationHistogram
  readonly #routes = new Map<string, RouteMetrics>()

  constructor(registry: Registry) {
    this.#durations = new DurationHistogram(registry, {
      name: 'http_request_duration_seconds',
      help: 'Time from the arrival of a request until its reply is written or its stream begins, in seconds.',
      buckets: DURATION_BUCKETS_S,
    })
  }

  /** Returns the metrics of a route. The same route always gets the same object. */
  getRoute(method: string, route: string): RouteMetrics {
    const key = `${method} ${route}`
    const known = this.#routes.get(key) ?? new RouteMetrics({ method, route }, this.#durations)
    this.#routes.set(key, known)
    return known
  }
}

export const FAULT_COUNTER_NAME = 'http_request_errors_total'

/**
 * Creates the counter of requests that failed by a fault of the service, by code. `DATA_DAMAGED` is a fault of the
 * disk.
 */
export const createFaultCounter = (registry: Registry): Counter =>
  new Counter({
    name: FAULT_COUNTER_NAME,
    help: 'Requests that failed because of an error of the service, by code.',
    labelNames: ['code'],
    registers: [registry],
  })

/** Metrics of a thread in the form in which the main thread receives them. */
export type MetricsJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/**
 * Interval at which the delay of an event loop is measured (ms). It is subtracted from the measured delay. Each
 * measurement wakes an idle process.
 */
export const LAG_RESOLUTION_MS = 20

/** Creates a registry with the utilization and the lag of this serving thread's event loop. */
export function createThreadRegistry(thread: number): Registry {
  const registry = new Registry()
  let last = performance.eventLoopUtilization()
  const utilization: Gauge = new Gauge({
    name: 'thread_event_loop_utilization',
    help: 'Share of the time since the last scrape that the thread was busy, 0 to 1.',
    labelNames: ['thread'],
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization()
      utilization.set({ thread }, performance.eventLoopUtilization(now, last).utilization)
      last = now
    },
  })
  const delays = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  delays.enable()
  const lag: Gauge = new Gauge({
    name: 'thread_event_loop_lag_seconds',
    help: 'Longest delay of the event loop of the thread since the last scrape.',
    labelNames: ['thread'],
    registers: [registry],
    collect() {
      lag.set({ thread }, Math.max(0, delays.max / 1e6 - LAG_RESOLUTION_MS) / 1e3)
      delays.reset()
    },
  })
  return registry
}

import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Counter, Gauge, Registry } from './prom-client.ts'

// Upper bounds of the buckets (s).
const DURATION_BUCKETS_S = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

interface MetricSample {
  metricName: string
  value: number
  labels: Record<string, string | number>
}

/** Durations of the requests of one route with one status. */
class DurationSeries {
  readonly labels: Record<string, string | number>
  readonly counts = new Float64Array(DURATION_BUCKETS_S.length + 1)
  sum = 0

  constructor(labels: Record<string, string | number>) {
    this.labels = labels
  }

  observe(seconds: number): void {
    let bucket = 0
    while (bucket < DURATION_BUCKETS_S.length && seconds > DURATION_BUCKETS_S[bucket]!) bucket++
    this.counts[bucket]!++
    this.sum += seconds
  }

  toSamples(name: string): MetricSample[] {
    const samples: MetricSample[] = []
    let count = 0
    this.counts.forEach((n, bucket) => {
      count += n
      samples.push({
        metricName: `${name}_bucket`,
        value: count,
        labels: { ...this.labels, le: DURATION_BUCKETS_S[bucket] ?? '+Inf' },
      })
    })
    samples.push({ metricName: `${name}_sum`, value: this.sum, labels: this.labels })
    samples.push({ metricName: `${name}_count`, value: count, labels: this.labels })
    return samples
  }
}

/** Metrics of one route, with one series per status. */
export class RouteMetrics {
  readonly #labels: Record<string, string>
  readonly series = new Map<number, DurationSeries>()

  constructor(labels: Record<string, string>) {
    this.#labels = labels
  }

  observe(status: number, seconds: number): void {
    let series = this.series.get(status)
    if (!series) this.series.set(status, (series = new DurationSeries({ ...this.#labels, status })))
    series.observe(seconds)
  }
}

/**
 * The histogram of request durations, with the interface of a prom-client metric. prom-client's own histogram hashes
 * the labels of every observation (0.5 us). Here each route has an object with its own series.
 */
export class RequestMetrics {
  readonly name = 'http_request_duration_seconds'
  readonly help = 'Time from the request head to the end of the reply, in seconds.'
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #routes = new Map<string, RouteMetrics>()

  constructor(registry: Registry) {
    registry.registerMetric(this as never)
  }

  /** Returns the metrics of a route. The same route always gets the same object. */
  getRoute(method: string, route: string): RouteMetrics {
    const key = `${method} ${route}`
    const known = this.#routes.get(key) ?? new RouteMetrics({ method, route })
    this.#routes.set(key, known)
    return known
  }

  get() {
    const { name, help, type, aggregator } = this
    const routes = [...this.#routes.values()]
    const values = routes.flatMap((route) => [...route.series.values()].flatMap((series) => series.toSamples(name)))
    return { name, help, type, aggregator, values }
  }

  reset(): void {
    for (const route of this.#routes.values()) route.series.clear()
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

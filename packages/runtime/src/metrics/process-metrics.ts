import AggregatorRegistry from 'prom-client/lib/cluster.js'
import { createRequire } from 'node:module'
import { VERSION } from '../version.ts'
import { getLostLines } from '../logging/line-sink.ts'
import { registerCounter } from './counter.ts'
import { LAG_RESOLUTION_MS, type MetricsJson } from './request-metrics.ts'
import { Gauge, Registry } from './prom-client.ts'

// Totals that the library derives from `nodejs_active_resources`, `_handles` and `_requests`. They are removed, because
// they are gauges with the suffix of counters.
const MISNAMED_METRICS = ['resources', 'handles', 'requests'].map((name) => `nodejs_active_${name}_total`)

// The default metrics of the library without `processCpuTotal`, because that module loads OpenTelemetry.
const LIBRARY_METRICS = [
  'processStartTime',
  'osMemoryHeap',
  'processOpenFileDescriptors',
  'processMaxFileDescriptors',
  'eventLoopLag',
  'processResources',
  'processHandles',
  'processRequests',
  'heapSizeAndUsed',
  'heapSpacesSizeAndUsed',
  'version',
  'gc',
]
const load = createRequire(import.meta.url)

function registerProcessorTime(registry: Registry): void {
  const start = process.cpuUsage()
  const register = (name: string, help: string, select: (usage: NodeJS.CpuUsage) => number) =>
    registerCounter(registry, name, help, () => select(process.cpuUsage(start)) / 1e6)
  register('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.', ({ user }) => user)
  register('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.', ({ system }) => system)
  register(
    'process_cpu_seconds_total',
    'Total user and system CPU time spent in seconds.',
    ({ user, system }) => user + system,
  )
}

/**
 * Creates a registry with the metrics of the process: version, start time, processor time, memory, event loop of the
 * main thread, lost log lines.
 */
export function createProcessRegistry(service: string): Registry {
  const registry = new Registry()
  registerProcessorTime(registry)
  for (const name of LIBRARY_METRICS)
    load(`prom-client/lib/metrics/${name}.js`)(registry, { eventLoopMonitoringPrecision: LAG_RESOLUTION_MS })
  for (const name of MISNAMED_METRICS) registry.removeSingleMetric(name)
  // By default the library omits this metric when it merges registries. `first` is right, because only this registry
  // has the metric.
  Object.assign(registry.getSingleMetric('process_start_time_seconds')!, { aggregator: 'first' })
  const info = new Gauge({
    name: 'influencer_stats_build_info',
    help: 'Versions of the service and of Node; always 1.',
    labelNames: ['service', 'version', 'node'],
    aggregator: 'first',
    registers: [registry],
  })
  info.set({ service, version: VERSION.version, node: VERSION.node }, 1)
  registerCounter(
    registry,
    'log_lines_lost_total',
    'Log lines that could not be written, for example because the disk is full.',
    getLostLines,
  )
  return registry
}

/** Merges registries into one text in the Prometheus format. Counters and histograms of all threads are added up. */
export function mergeMetrics(registries: MetricsJson[]): Promise<string> {
  return AggregatorRegistry.aggregate(registries as never).metrics()
}

/** Like `mergeMetrics`, but returns metrics that can be merged with others. */
export function sumMetrics(registries: MetricsJson[]): Promise<MetricsJson> {
  return AggregatorRegistry.aggregate(registries as never).getMetricsAsJSON()
}

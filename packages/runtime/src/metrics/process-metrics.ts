import AggregatorRegistry from 'prom-client/lib/cluster.js'
import collectDefaultMetrics from 'prom-client/lib/defaultMetrics.js'
import { VERSION } from '../http/version.ts'
import { getLostLines } from '../process/line-sink.ts'
import { registerCounter } from './counter.ts'
import { LAG_RESOLUTION_MS, type MetricsJson } from './request-metrics.ts'
import { Gauge, Registry } from './prom-client.ts'

// The library's sums over what `nodejs_active_resources`, `_handles` and `_requests` tell: gauges with the ending of counters.
const MISNAMED_METRICS = ['resources', 'handles', 'requests'].map((what) => `nodejs_active_${what}_total`)

/** A registry with the figures of the process: what runs, since when, processor time, memory, event loop of main. */
export function createProcessRegistry(service: string): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_RESOLUTION_MS })
  for (const name of MISNAMED_METRICS) registry.removeSingleMetric(name)
  // The library leaves it out where figures of several registries are merged: only this one has it.
  Object.assign(registry.getSingleMetric('process_start_time_seconds')!, { aggregator: 'first' })
  const info = new Gauge({
    name: 'influencer_stats_build_info',
    help: 'What runs: always 1.',
    labelNames: ['service', 'version', 'node'],
    aggregator: 'first',
    registers: [registry],
  })
  info.set({ service, version: VERSION.version, node: VERSION.node }, 1)
  registerCounter(
    registry,
    'log_lines_lost_total',
    'Log lines that could not be written: a full disk, say.',
    getLostLines,
  )
  return registry
}

/** One text of many registries: counters and histograms summed over threads. */
export function mergeMetrics(registries: MetricsJson[]): Promise<string> {
  return AggregatorRegistry.aggregate(registries as never).metrics()
}

/** The same as figures that can be merged with others. */
export function sumMetrics(registries: MetricsJson[]): Promise<MetricsJson> {
  return AggregatorRegistry.aggregate(registries as never).getMetricsAsJSON()
}

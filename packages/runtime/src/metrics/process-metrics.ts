import AggregatorRegistry from 'prom-client/lib/cluster.js'
import collectDefaultMetrics from 'prom-client/lib/defaultMetrics.js'
import { lostLines } from '../process/sink.ts'
import { gauge } from './gauge.ts'
import type { MetricsJson } from './metrics.ts'
import { Registry } from './prom-client.ts'

/** A registry with the figures of the process: processor time, memory, event loop of main. */
export function createProcessRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  gauge(registry, 'log_lines_lost_total', 'Log lines that could not be written: a full disk, say.', lostLines)
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

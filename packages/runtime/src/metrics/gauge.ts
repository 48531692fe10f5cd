import { Gauge, type Registry } from './prom-client.ts'

/**
 * Registers a metric whose value is read at each scrape.
 * @param aggregator combines the values of the threads: `sum`, or `first` if all threads read the same memory
 */
export function registerGauge(
  registry: Registry,
  name: string,
  help: string,
  value: () => number,
  aggregator: 'sum' | 'first' = 'sum',
): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      aggregator,
      registers: [],
      collect() {
        this.set(value())
      },
    }),
  )
}

import { Gauge, type Registry } from './prom-client.ts'

/** A metric that all threads read from the same memory: it is not added up. */
export function sharedGauge(registry: Registry, name: string, help: string, value: () => number): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      aggregator: 'first',
      registers: [],
      collect() {
        this.set(value())
      },
    }),
  )
}

import { Counter, type Registry } from './prom-client.ts'

/**
 * Registers a counter whose value is read at each scrape. The value must never decrease. The values of all threads are
 * added up.
 */
export function registerCounter(registry: Registry, name: string, help: string, value: () => number): void {
  registry.registerMetric(
    new Counter({
      name,
      help,
      registers: [],
      collect() {
        this.reset()
        this.inc(value())
      },
    }),
  )
}

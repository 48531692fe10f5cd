import { Gauge, type Registry } from './prom-client.ts'

/** A figure that is read where it is kept when somebody asks. Threads' are added up. */
export function gauge(registry: Registry, name: string, help: string, value: () => number): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(value())
      },
    }),
  )
}

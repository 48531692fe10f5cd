import { Counter, type Registry } from './prom-client.ts'

/** A count that is read where it is kept when somebody asks; it never falls. Threads' are added up. */
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

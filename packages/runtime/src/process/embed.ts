import { pino } from 'pino'
import { resolveConfigs } from '../settings/resolve-config.ts'
import { startService, type RunningService } from './service-host.ts'
import type { ServiceConfig } from './process-messages.ts'
import type { AnyService } from '../service.ts'

/** Settings of one service, given by a program rather than by a command line. */
export type Overrides = Readonly<Record<string, string | number>>

/** Nobody is cut off, and no thread replaced, because a busy machine takes its time (ms). */
export const LENIENT_TIMEOUTS: Overrides = {
  headersTimeout: 60_000,
  requestTimeout: 600_000,
  sendTimeout: 60_000,
  shutdownTimeout: 60_000,
  watchdogTimeout: 60_000,
}

/** A service's defaults, its variant's values and `overrides`. @throws StartError `SETTINGS_WRONG` */
export function buildConfig(definition: AnyService, overrides: Overrides = {}): ServiceConfig {
  const flags = Object.entries(overrides).map(([name, value]) => ({
    service: definition.name,
    name,
    value: String(value),
  }))
  return resolveConfigs([definition], flags, {}).get(definition.name)!
}

/**
 * Runs a service inside this process, serving on main (`threads: 0`) on a free port, with patience, unless told otherwise:
 * for tests and profiles. More threads need `services`, the URL of a module that exports the table they find the
 * definition in.
 */
export function embed(definition: AnyService, overrides: Overrides = {}, services = ''): Promise<RunningService> {
  const config = buildConfig(definition, { port: 0, threads: 0, logLevel: 'silent', ...LENIENT_TIMEOUTS, ...overrides })
  return startService({ services, definition, config, log: pino({ level: config.logLevel }) })
}

import { pino } from 'pino'
import { resolveConfigs } from '../settings/resolve-config.ts'
import { startService, type RunningService } from './service-host.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import type { AnyService } from '../service.ts'

/** Settings of one service, given by a program instead of a command line. */
export type Overrides = Readonly<Record<string, string | number>>

/** Long timeouts (ms): a busy machine then disconnects no client and replaces no thread. */
export const LENIENT_TIMEOUTS: Overrides = {
  headersTimeout: 60_000,
  requestTimeout: 600_000,
  sendTimeout: 60_000,
  shutdownTimeout: 60_000,
  watchdogTimeout: 60_000,
}

/**
 * Builds the configuration of a service: its defaults, the values of its variant and `overrides`.
 * @throws StartError `SETTINGS_WRONG`
 */
export function buildConfig(definition: AnyService, overrides: Overrides = {}): ServiceConfig {
  const flags = Object.entries(overrides).map(([name, value]) => ({
    service: definition.name,
    name,
    value: String(value),
  }))
  return resolveConfigs([definition], flags, {}).get(definition.name)!
}

/**
 * Runs a service in this process, for tests and profiles. By default it serves on the main thread (`threads: 0`), on a
 * free port, with long timeouts.
 * @param services URL of the module that exports the table of services; required if `threads` is not 0
 */
export function embed(definition: AnyService, overrides: Overrides = {}, services = ''): Promise<RunningService> {
  const config = buildConfig(definition, { port: 0, threads: 0, logLevel: 'silent', ...LENIENT_TIMEOUTS, ...overrides })
  return startService({ services, definition, config, log: pino({ level: config.logLevel }) })
}

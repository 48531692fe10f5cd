import { pino } from 'pino'
import { Value } from 'typebox/value'
import Type from 'typebox'
import { settingsOf } from './config.ts'
import { startService, type RunningService } from './host.ts'
import type { Config } from './messages.ts'
import type { AnyService } from './service.ts'

/** Settings of one service, given by a program rather than by a command line. */
export type Overrides = Readonly<Record<string, unknown>>

/** A service's defaults, its variant's values and `overrides`, checked. @throws Error naming the settings that do not fit */
export function configOf(definition: AnyService, overrides: Overrides = {}): Config {
  const schema = Type.Object(settingsOf(definition))
  const variant = definition.variants?.[String(overrides.variant ?? '')]
  const config = Value.Default(schema, { port: definition.port, data: `./data/${definition.name}`, ...variant, ...overrides }) as Config
  if (!Value.Check(schema, config)) {
    throw new Error([...Value.Errors(schema, config)].map(({ instancePath, message }) => `${instancePath} ${message}`).join('; '))
  }
  return config
}

/**
 * Runs a service inside this process, serving on main (`threads: 0`) on a free port unless told otherwise: for tests
 * and profiles. More threads need `services`, the URL of a module that exports the table they find the definition in.
 */
export function embed(definition: AnyService, overrides: Overrides = {}, services = ''): Promise<RunningService> {
  const config = configOf(definition, { port: 0, threads: '0', logLevel: 'silent', ...overrides })
  return startService({ services, definition, config, log: pino({ level: config.logLevel }) })
}

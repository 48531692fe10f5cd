import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SettingFlag } from './arguments.ts'
import { getEditDistance } from './edit-distance.ts'
import { StartError } from '../errors/common-errors.ts'
import type { ConfigurableService, ServiceConfig } from './settings.ts'
import {
  toFileSetting,
  toFlag,
  toKebabCase,
  addFileSettings,
  type Setting,
  type SettingTable,
} from './define-settings.ts'
import { commonSettings } from './settings.ts'
import { isLoopback } from '../net/served-hosts.ts'
import { formatReceived, formatText } from '../received-value.ts'
import { describeSchema } from '../schema/validation-errors.ts'
import { createValidator } from '../schema/validation.ts'

/** Maximum edit distance of a name from the known name that is suggested. */
const MAX_TYPOS = 3
/** Maximum edit distance for long names, as a share of the known name's length. The larger maximum applies. */
const MAX_TYPO_RATIO = 0.34

type Environment = Readonly<Record<string, string | undefined>>

/** A value that the user has set, and its source: a flag or an environment variable. */
interface GivenValue {
  readonly value: unknown
  readonly source: string
}

/** Returns the settings of one service: the common ones, then its own. */
export function getSettings(definition: Pick<ConfigurableService, 'settings'>): SettingTable {
  return addFileSettings({ ...commonSettings, ...definition.settings })
}

const toSnakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/** Returns the environment variable that sets one setting of one service only. */
export const toVariable = (service: string, setting: string) => `${service.toUpperCase()}_${toSnakeCase(setting)}`

/** Checks the names of services. @throws StartError `SERVICE_UNKNOWN` */
export function assertKnownServices(names: readonly string[], known: object): void {
  const unknown = names.filter((name) => !Object.hasOwn(known, name))
  if (unknown.length === 0) return
  throw new StartError(
    'SERVICE_UNKNOWN',
    `unknown service: ${unknown.map(formatText).join(', ')}; known: ${Object.keys(known).join(', ')}`,
  )
}

/**
 * Resolves the configuration of each service: defaults, overridden by its variant, by the environment, by flags.
 * @throws StartError `SETTINGS_WRONG` that names every wrong setting at once
 */
export function resolveConfigs(
  definitions: readonly ConfigurableService[],
  flags: readonly SettingFlag[],
  env: Environment,
): Map<string, ServiceConfig> {
  const errors = findStrayFlags(definitions, flags)
  const configs = new Map<string, ServiceConfig>()
  for (const definition of definitions) configs.set(definition.name, resolveConfig(definition, flags, env, errors))
  // A wrong flag of several services is reported once.
  if (errors.length > 0) throw new StartError('SETTINGS_WRONG', [...new Set(errors)].join('; '))
  return configs
}

/** Finds flags that apply to no started service. */
function findStrayFlags(definitions: readonly ConfigurableService[], flags: readonly SettingFlag[]): string[] {
  const stray = flags.filter((flag) => !definitions.some((definition) => isFlagFor(definition, flag)))
  return stray.map((flag) => {
    const reason =
      flag.name === 'variant'
        ? `no started service has a variant ${formatReceived(flag.value)} (${describeVariants(definitions)})`
        : `no started service has this setting${suggestFlag(definitions, flag)}`
    return `${formatFlag(flag)}: ${reason}`
  })
}

const formatFlag = ({ service, name }: Pick<SettingFlag, 'service' | 'name'>) =>
  formatText(`--${service ? `${service}.` : ''}${toKebabCase(name)}`)

const describeVariants = (definitions: readonly ConfigurableService[]): string =>
  definitions
    .flatMap(({ name, variants = {} }) => {
      const names = Object.keys(variants)
      return names.length > 0 ? [`${name} has ${names.join(', ')}`] : []
    })
    .join('; ') || 'no service has variants'

/** Suggests the flag that was probably meant, as a question. Refers to `--help` if no flag is similar. */
function suggestFlag(definitions: readonly ConfigurableService[], flag: SettingFlag): string {
  const known = definitions.flatMap((definition) =>
    Object.keys(getSettings(definition)).map((name) => formatFlag({ name, service: flag.service && definition.name })),
  )
  const given = formatFlag(flag)
  let nearest = ''
  let distance = Infinity
  for (const name of known) {
    const candidate = getEditDistance(given, name)
    if (candidate < distance) [nearest, distance] = [name, candidate]
  }
  const maxTypos = Math.max(MAX_TYPOS, MAX_TYPO_RATIO * nearest.length)
  return distance <= maxTypos ? `; did you mean ${nearest}?` : ' (--help lists the settings)'
}

/** True if a flag applies to a service. `--variant v3` without a prefix applies to the services that have a v3. */
function isFlagFor(definition: ConfigurableService, { service, name, value }: SettingFlag): boolean {
  if (service !== undefined && service !== definition.name) return false
  if (name === 'host' && service === undefined && definition.standsIn) return false
  if (name === 'variant' && service === undefined) return Object.hasOwn(definition.variants ?? {}, value)
  return toSetting(getSettings(definition), name) !== undefined
}

/** Returns the name of the setting that a flag sets. The flag may have the setting's former name. */
function toSetting(settings: SettingTable, name: string): string | undefined {
  if (Object.hasOwn(settings, name)) return name
  return Object.keys(settings).find((key) => settings[key]!.formerly === name)
}

/** Resolves the configuration of one service. Adds a message to `errors` for each wrong setting. */
export function resolveConfig(
  definition: ConfigurableService,
  flags: readonly SettingFlag[],
  env: Environment,
  errors: string[],
): ServiceConfig {
  const settings = getSettings(definition)
  const given = new Map<string, GivenValue>()
  for (const [name, schema] of Object.entries(settings)) {
    const names = [schema.formerly, name].filter((key) => key !== undefined)
    for (const variable of [schema.env, ...names.map((key) => toVariable(definition.name, key))]) {
      const value = variable === undefined ? undefined : env[variable]
      // Kubernetes sets `STATS_PORT=tcp://...` in every container next to a service with the name stats.
      if (value !== undefined && value !== '' && !(name === 'port' && value.startsWith('tcp://')))
        given.set(name, { value, source: variable! })
    }
  }
  // A flag with the service's name has precedence over one without, in any order.
  const own = flags
    .filter((flag) => isFlagFor(definition, flag))
    .toSorted((a, b) => Number(!!a.service) - Number(!!b.service))
  for (const flag of own) {
    const { service, value } = flag
    const name = toSetting(settings, flag.name)!
    // Without a service name, `--data` is the parent folder: each service has its own folder in it.
    const isRoot = name === 'data' && service === undefined && value !== ''
    given.set(name, { value: isRoot ? join(value, definition.name) : value, source: formatFlag(flag) })
  }

  readSecrets(settings, given, errors)
  const variant = String(given.get('variant')?.value ?? '')
  if (variant && !Object.hasOwn(definition.variants ?? {}, variant)) {
    errors.push(
      `${given.get('variant')!.source}: ${definition.name} has no variant ${formatReceived(variant)} (known: ${Object.keys(definition.variants ?? {}).join(', ') || 'none'})`,
    )
  }
  const defaults = {
    port: definition.port,
    data: `./data/${definition.name}`,
    ...definition.variants?.[variant],
  } as Record<string, unknown>

  const config: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(settings)) {
    const found = given.get(name)
    const { value, source } = found ?? { value: defaults[name] ?? schema.default, source: name }
    config[name] = typeof value === 'string' ? parseValue(schema, value) : value
    // Only values that the user has set are validated. A test validates the defaults, because compiling a validator for
    // each setting would take longer than everything else here.
    if (found && !createValidator(schema, 'body')(config[name])) {
      errors.push(`${source}: ${formatValue(schema, value)} ${describeExpectation(schema)}`)
    } else if (schema.check) {
      const faults = (config[name] as string[]).map(schema.check).filter((fault) => fault !== undefined)
      errors.push(...faults.map((fault) => `${source}: ${fault}`))
    }
  }
  if (definition.standsIn && !isLoopback(String(config.host)))
    errors.push(
      `${given.get('host')!.source}: ${definition.name} ${definition.summary}; it must listen on a loopback address`,
    )
  return config as ServiceConfig
}

/**
 * Converts the text of a variable or a flag to the type of the setting. If the text of an integer is not one, it
 * remains a string, which the schema refuses.
 */
function parseValue({ type }: Setting, text: string): unknown {
  if (type === 'array') return splitList(text)
  return type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
}

const splitList = (value: string) =>
  value
    .split(/[,\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== '')
const formatValue = (schema: Setting, value: unknown) => (schema.secret ? 'its value' : formatReceived(value))

/** Describes the values that a setting accepts, for an error message. */
function describeExpectation(schema: Setting): string {
  const { enum: names, pattern, patternDescription, minimum, maximum } = schema
  if (patternDescription) return `is not ${patternDescription}`
  if (names) return `is not one of ${names.join(', ')}`
  if (pattern) return `does not match ${pattern}`
  if (minimum !== undefined) return `is not a whole number from ${minimum} to ${maximum}`
  return `is not ${describeSchema(schema)}`
}

/** Trims the secrets, and reads those whose settings name a file. */
function readSecrets(settings: SettingTable, given: Map<string, GivenValue>, errors: string[]): void {
  for (const [name, { secret }] of Object.entries(settings)) {
    const setting = toFileSetting(name)
    if (!secret) continue
    trimSecret(name, given)
    const file = String(given.get(setting)?.value ?? '')
    if (file === '') continue
    try {
      const value = readFileSync(file, 'utf8').trim()
      if (value === '') errors.push(`${toFlag(setting)}: ${file} is empty`)
      else given.set(name, { value, source: toFlag(setting) })
    } catch (error) {
      errors.push(`${toFlag(setting)}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
  }
}

/** Removes white space around a secret, as for a secret from a file: editors and shells append a line break. */
function trimSecret(name: string, given: Map<string, GivenValue>): void {
  const found = given.get(name)
  if (typeof found?.value !== 'string') return
  const value = found.value.trim()
  if (value === '' && found.value !== '') given.delete(name)
  else given.set(name, { ...found, value })
}

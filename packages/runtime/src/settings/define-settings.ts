/** The sections of `--help` for settings that several services have, in order. */
export const SETTING_GROUPS = ['general', 'HTTP', 'limits', 'TLS', 'logging and tracing', 'storage', 'cluster'] as const

/** A setting: the JSON Schema of its value, its default, its description, and how the runtime treats it. */
export interface Setting {
  readonly type: 'string' | 'integer' | 'array'
  /** Noun phrase for `--help`, under 70 characters, with the unit. */
  readonly description: string
  /** Section of `--help`. Default: `general`, or the service's own section for a setting that only one service has. */
  readonly group?: (typeof SETTING_GROUPS)[number]
  /** The former name, which flags and environment variables may still use. */
  readonly formerly?: string
  readonly default?: string | number | readonly string[]
  readonly enum?: readonly string[]
  /** Allowed items of a list, for `--help`. The service itself checks them. */
  readonly choices?: readonly string[]
  readonly pattern?: string
  /** Noun phrase for the texts that match the pattern. It follows "is not" in an error message. */
  readonly patternDescription?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: { readonly type: 'string'; readonly minLength?: number }
  /** Checks an item of a list in addition to its type. Returns the error, or `undefined` if the item is valid. */
  check?(item: string): string | undefined
  /** An environment variable that all services share. */
  readonly env?: string
  /** True if the value must never be printed. */
  readonly secret?: boolean
  /**
   * Name of the service whose URL this setting contains. If the setting is empty, that service is started and its URL
   * is used.
   */
  readonly service?: string
  /** The setting applies only while other settings have these values. */
  readonly when?: Readonly<Record<string, string>>
  /**
   * True if the other service is not started for this setting alone. If it is started for another reason, the setting
   * gets its URL. Otherwise the setting remains empty.
   */
  readonly optional?: boolean
  /** True if the other service need not be ready at the start, because it is called only when a request needs it. */
  readonly early?: boolean
}

/** The settings of a service by name, in camel case. */
export type SettingTable = Readonly<Record<string, Setting>>

type SettingValue<S extends Setting> = S extends { readonly enum: readonly (infer Name)[] }
  ? Name
  : { string: string; integer: number; array: string[] }[S['type']]

/** The values of a service's settings. */
export type SettingValues<S extends SettingTable> = { [Name in keyof S]: SettingValue<S[Name]> }

/** The flag of a setting: `--max-queue-delay` for `maxQueueDelay`. */
export const toFlag = (setting: string) => `--${toKebabCase(setting)}`

export const toKebabCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Returns the setting that names the file of a secret. */
export const toFileSetting = (secret: string) => `${secret}File`

/** Adds a setting for each secret: the file from which it can be read. */
export function addFileSettings(settings: SettingTable): SettingTable {
  const files = Object.entries(settings).flatMap(([name, { secret, env, group }]): [string, Setting][] => {
    // A service may define the setting of the file itself.
    if (!secret || toFileSetting(name) in settings) return []
    const description = `file that contains the value of ${toFlag(name)}`
    return [
      [toFileSetting(name), { type: 'string', default: '', description, group, ...(env && { env: `${env}_FILE` }) }],
    ]
  })
  return { ...settings, ...Object.fromEntries(files) }
}

/** Infers the types of settings; returns the value unchanged. */
export const defineSettings = <const S extends SettingTable>(settings: S): S => settings

/** Puts settings into one section of `--help`. */
export const inGroup = <const S extends SettingTable>(group: Setting['group'], settings: S): S =>
  Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, { ...setting, group }])) as S

export const HTTP_URL_PATTERN = '^(https?://[^/\\s]+(/\\S*)?)?$'
const HTTP_URLS = '^(https?://[^/\\s,]+(/[^\\s,]*)?(,(?=h)|$))*$'
export const URL_DESCRIPTION = 'an address such as http://localhost:8080'

/** Further options of a setting for the address of another service. */
export type ServiceUrlOptions = Pick<Setting, 'env' | 'when' | 'optional' | 'early'>

/**
 * Defines a setting for the address of another service of this project. If empty, the service that was started together
 * with this one is used.
 */
export const defineServiceUrl = (service: string, description: string, more: ServiceUrlOptions = {}) =>
  ({
    type: 'string',
    default: '',
    pattern: HTTP_URL_PATTERN,
    patternDescription: URL_DESCRIPTION,
    service,
    description,
    ...more,
  }) as const

/**
 * Defines a setting for the addresses of the nodes of another service, separated by commas. Otherwise like
 * `defineServiceUrl`.
 */
export const defineServiceUrls = (...given: Parameters<typeof defineServiceUrl>) =>
  ({
    ...defineServiceUrl(...given),
    pattern: HTTP_URLS,
    patternDescription: `${URL_DESCRIPTION}, or several separated by commas`,
  }) as const

import Type, { type Static, type TSchema } from 'typebox'

const text = (description: string, more: object = {}) => Type.String({ default: '', description, ...more })
const list = (description: string, more: object = {}) =>
  Type.Array(Type.String({ minLength: 1 }), { default: [], description, ...more })
const milliseconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 3_600_000, description: `${description} (ms)` })

/**
 * The settings that every service has. `env` names an environment variable that all services share; besides it each
 * setting can be given to one service alone (`STATS_PORT`).
 */
export const commonSettings = {
  host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'address to listen on; any but loopback needs a token' }),
  port: Type.Integer({ minimum: 0, maximum: 65_535, description: 'port to listen on; 0 picks a free one' }),
  threads: Type.String({ default: '1', pattern: '^(auto|[0-9]|[1-5][0-9]|6[0-4])$', description: 'serving threads: 0 (on main) to 64, or auto (one per processor)' }),
  variant: text('a named combination of settings'),
  data: text('data folder; each belongs to one process'),
  apiToken: text('bearer token that every change of state needs', { env: 'API_TOKEN', secret: true }),
  apiTokenFile: text('file that holds the token', { env: 'API_TOKEN_FILE' }),
  readToken: text('bearer token that reads need too', { env: 'READ_TOKEN', secret: true }),
  allowedHosts: list('names other than loopback that the Host header may carry', { env: 'ALLOWED_HOSTS' }),
  corsOrigins: list('origins whose pages may call this service', { env: 'CORS_ORIGINS' }),
  bodyLimit: Type.Integer({ default: 1_048_576, minimum: 1, maximum: 1_073_741_824, description: 'largest request body (bytes)' }),
  headersTimeout: milliseconds(5_000, 'a request head must arrive within'),
  requestTimeout: milliseconds(10_000, 'a whole request must arrive within'),
  keepAliveTimeout: milliseconds(72_000, 'an idle connection is kept for'),
  shutdownTimeout: milliseconds(10_000, 'requests in flight may take, once told to stop,'),
  stuckTimeout: milliseconds(5_000, 'a serving thread that shows no sign of life is replaced after'),
  logLevel: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info', description: 'least severe message that the runtime logs' }),
}

export const CommonSettingsSchema = Type.Object(commonSettings)

/** The settings that every service has. Durations in milliseconds, sizes in bytes. */
export type CommonSettings = Static<typeof CommonSettingsSchema>

/** What a setting's schema may carry besides its type. */
export interface SettingNotes {
  readonly default?: unknown
  readonly description?: string
  /** An environment variable that all services share. */
  readonly env?: string
  /** Never printed. */
  readonly secret?: boolean
  /** A URL that, left empty, is that of the named service, which is then started too. */
  readonly service?: string
}

/** The address of another service of the house; empty means the one started beside this one. */
export const serviceUrl = (service: string, description: string, env?: string) => text(description, { service, env })

export const notesOf = (schema: TSchema): SettingNotes => schema as SettingNotes

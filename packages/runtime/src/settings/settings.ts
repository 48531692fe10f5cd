import { hostFault } from '../http/hosts.ts'

/** What a setting is: a JSON Schema of one value, with its default and its meaning, and what else the runtime must know. */
export interface Setting {
  readonly type: 'string' | 'integer' | 'array'
  readonly description: string
  readonly default?: string | number | readonly string[]
  readonly enum?: readonly string[]
  readonly pattern?: string
  /** What the pattern asks for, in words that follow "is not". */
  readonly form?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: { readonly type: 'string'; readonly minLength?: number }
  /** What is wrong with one item of a list, where its type does not say it. */
  fault?(item: string): string | undefined
  /** An environment variable that all services share. */
  readonly env?: string
  /** Never printed. */
  readonly secret?: boolean
  /** The setting is a URL; left empty it is that of the named service, which is then started too. */
  readonly service?: string
  /** The setting is of use only while another has this value. */
  readonly when?: Readonly<Record<string, string>>
  /** The service is not started for it: the setting is its URL if it is started anyway, and else stays empty. */
  readonly optional?: boolean
}

/** The settings of a service by name, in camel case. */
export type Settings = Readonly<Record<string, Setting>>

type ValueOf<S extends Setting> = S extends { readonly enum: readonly (infer Name)[] }
  ? Name
  : { string: string; integer: number; array: string[] }[S['type']]

/** The values of a service's settings. */
export type ValuesOf<S extends Settings> = { [Name in keyof S]: ValueOf<S[Name]> }

/** Gives settings their types; the value is returned as it is. */
export const defineSettings = <const S extends Settings>(settings: S): S => settings

/** Who may answer hot routes: Fastify, Node's HTTP server ahead of it, or a door that reads sockets itself. */
export const SERVERS = ['fastify', 'node-http', 'raw'] as const

const duration = { type: 'integer', minimum: 1, maximum: 3_600_000 } as const
const words = { type: 'array', items: { type: 'string', minLength: 1 }, default: [] } as const

/**
 * The settings that every service has. `env` names an environment variable that all services share; besides it each
 * setting can be given to one service alone (`STATS_PORT`).
 */
export const commonSettings = defineSettings({
  host: {
    type: 'string',
    default: '127.0.0.1',
    minLength: 1,
    description: 'address to listen on; any but loopback needs a token',
  },
  port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'port to listen on; 0 picks a free one' },
  threads: {
    type: 'string',
    default: '1',
    pattern: '^(auto|[0-9]|[1-5][0-9]|6[0-4])$',
    form: 'a whole number from 0 to 64, or auto',
    description: 'serving threads: 0 (on main) to 64, or auto (one per processor)',
  },
  variant: { type: 'string', default: '', description: 'a named combination of settings' },
  data: {
    type: 'string',
    default: '',
    description: 'data folder of one process; without the name of a service (--data DIR) the folder of them all',
  },
  apiToken: {
    type: 'string',
    default: '',
    env: 'API_TOKEN',
    secret: true,
    description: 'bearer token that every change of state needs',
  },
  apiTokenFile: { type: 'string', default: '', env: 'API_TOKEN_FILE', description: 'file that holds the token' },
  readToken: {
    type: 'string',
    default: '',
    env: 'READ_TOKEN',
    secret: true,
    description: 'bearer token that reads need too',
  },
  allowedHosts: {
    ...words,
    fault: hostFault,
    env: 'ALLOWED_HOSTS',
    description: 'names, addresses and networks (10.0.0.0/8) other than loopback that the Host header may carry',
  },
  corsOrigins: { ...words, env: 'CORS_ORIGINS', description: 'origins whose pages may call this service' },
  server: {
    type: 'string',
    enum: SERVERS,
    default: 'raw',
    description: "who answers the hottest routes: Fastify, Node's HTTP server ahead of it, or the socket's own bytes",
  },
  maxConnections: {
    type: 'integer',
    default: 65_536,
    minimum: 1,
    maximum: 10_000_000,
    description: 'most open connections, each thread',
  },
  maxUnread: {
    type: 'integer',
    default: 65_536,
    minimum: 1,
    maximum: 1_073_741_824,
    description: 'a connection that leaves more of its replies unread is not asked for more requests (bytes)',
  },
  sendTimeout: {
    ...duration,
    default: 30_000,
    description: 'a client that reads nothing of its replies for so long is cut off (ms)',
  },
  semiSpace: {
    type: 'integer',
    default: 16,
    minimum: 1,
    maximum: 64,
    description:
      'half of the young heap of each thread (MB): less is smaller, and slower where replies make much garbage',
  },
  bodyLimit: {
    type: 'integer',
    default: 1_048_576,
    minimum: 1,
    maximum: 1_073_741_824,
    description: 'largest request body (bytes)',
  },
  clientMemory: {
    type: 'integer',
    default: 268_435_456,
    minimum: 1_048_576,
    maximum: 1_099_511_627_776,
    description:
      'bodies that are coming and large replies that are not sent yet may take, of all threads together (bytes)',
  },
  maxWait: {
    ...duration,
    minimum: 0,
    default: 0,
    description: 'in an overload requests that would wait for longer are refused, with 503 (ms); 0 refuses nobody',
  },
  headersTimeout: { ...duration, default: 5_000, description: 'a request head must arrive within (ms)' },
  requestTimeout: { ...duration, default: 10_000, description: 'a whole request must arrive within (ms)' },
  keepAliveTimeout: { ...duration, default: 72_000, description: 'an idle connection is kept for (ms)' },
  shutdownTimeout: { ...duration, default: 10_000, description: 'once told to stop, requests in flight may take (ms)' },
  stuckTimeout: {
    ...duration,
    default: 5_000,
    description: 'a serving thread without a sign of life is replaced after (ms)',
  },
  logLevel: {
    type: 'string',
    enum: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    description: 'least severe message that the runtime logs',
  },
})

/** The settings that every service has. Durations in milliseconds, sizes in bytes. */
export type CommonSettings = ValuesOf<typeof commonSettings>

/** What else there is to the address of another service. */
export type ServiceUrlOptions = Pick<Setting, 'env' | 'when' | 'optional'>

const HTTP_URL = '^(https?://[^/\\s]+(/\\S*)?)?$'
const URL_FORM = 'an address such as http://localhost:8080'

/** The address of another service of the house; empty means the one started beside this one. */
export const serviceUrl = (service: string, description: string, { env, when, optional }: ServiceUrlOptions = {}) =>
  ({
    type: 'string',
    default: '',
    pattern: HTTP_URL,
    form: URL_FORM,
    service,
    description,
    env,
    when,
    optional,
  }) as const

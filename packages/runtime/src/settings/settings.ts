import { hostFault } from '../http/hosts.ts'
import { networkFault } from '../http/networks.ts'

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
  /** The address is enough to start with: the service itself is asked only when somebody asks for it. */
  readonly early?: boolean
}

/** The settings of a service by name, in camel case. */
export type Settings = Readonly<Record<string, Setting>>

type ValueOf<S extends Setting> = S extends { readonly enum: readonly (infer Name)[] }
  ? Name
  : { string: string; integer: number; array: string[] }[S['type']]

/** The values of a service's settings. */
export type ValuesOf<S extends Settings> = { [Name in keyof S]: ValueOf<S[Name]> }

/** The setting that names a file to read a secret from. */
export const fileOf = (secret: string) => `${secret}File`

/** Settings, and beside each secret one the file that it may be read from. */
export function withFiles(settings: Settings): Settings {
  const files = Object.entries(settings).flatMap(([name, { secret, env }]): [string, Setting][] => {
    // A service may define the setting of the file itself.
    if (!secret || fileOf(name) in settings) return []
    const description = `file that holds ${name}`
    return [[fileOf(name), { type: 'string', default: '', description, ...(env && { env: `${env}_FILE` }) }]]
  })
  return { ...settings, ...Object.fromEntries(files) }
}

/** Gives settings their types; the value is returned as it is. */
export const defineSettings = <const S extends Settings>(settings: S): S => settings

/** Who may answer hot routes: Fastify, Node's HTTP server ahead of it, or a door that reads sockets itself. */
export const SERVERS = ['fastify', 'node-http', 'raw'] as const

const HTTP_URL = '^(https?://[^/\\s]+(/\\S*)?)?$'
const HTTP_URLS = '^(https?://[^/\\s,]+(/[^\\s,]*)?(,(?=h)|$))*$'
const URL_FORM = 'an address such as http://localhost:8080'

const duration = { type: 'integer', minimum: 1, maximum: 3_600_000 } as const
const quota = { type: 'integer', default: 0, minimum: 0, maximum: 1_000_000_000 } as const
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
  tlsCert: { type: 'string', default: '', description: 'file of the certificate (PEM): the service speaks TLS then' },
  tlsKey: { type: 'string', default: '', description: 'file of the key of the certificate (PEM)' },
  trustProxy: {
    ...words,
    fault: networkFault,
    env: 'TRUST_PROXY',
    description: 'addresses and networks of proxies, whose X-Forwarded-For says who asks',
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
  addressConnections: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 10_000_000,
    description: 'most open connections of one address, each thread; 0 for no such limit',
  },
  addressLimit: { ...quota, description: 'most requests of one address in limitWindow, all threads; 0 for no limit' },
  tokenLimit: { ...quota, description: 'most requests with one token in limitWindow, all threads; 0 for no limit' },
  limitWindow: {
    type: 'integer',
    default: 60,
    minimum: 1,
    maximum: 86_400,
    description: 'the time for which addressLimit and tokenLimit are meant (s)',
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
      'half of the young heap of each serving thread (MB): less is smaller, and slower where replies make much garbage',
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
      'bodies that are coming, large replies and streams that are not sent yet may take, of all threads together (bytes)',
  },
  maxWait: {
    ...duration,
    minimum: 0,
    default: 50,
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
  logRequests: {
    type: 'integer',
    default: 1,
    minimum: 0,
    maximum: 1_000_000,
    description: 'one in so many requests has a line in the log, those of hot routes left out; 0 for none',
  },
  logHotRequests: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description: 'the same for the hottest routes',
  },
  otlpEndpoint: {
    type: 'string',
    default: '',
    pattern: HTTP_URL,
    form: URL_FORM,
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    description: 'a collector of OpenTelemetry: spans of requests and calls are sent there (OTLP, HTTP, JSON)',
  },
  otlpHeaders: {
    type: 'string',
    default: '',
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    secret: true,
    description: 'headers for the collector: name=value,name=value',
  },
  traceSample: {
    type: 'string',
    default: '1',
    pattern: '^(0(\\.\\d+)?|1(\\.0+)?)$',
    form: 'a share from 0 to 1',
    env: 'OTEL_TRACES_SAMPLER_ARG',
    description: 'share of the requests that come without a decision of their own of which spans are made',
  },
  logLevel: {
    type: 'string',
    enum: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    description: 'least severe message that the runtime logs',
  },
})

/** The settings that every service has. Durations in milliseconds, sizes in bytes. */
export type CommonSettings = ValuesOf<typeof commonSettings> & StandIns

/** Found out when services are started together. */
export type StandIns = {
  /** The settings that are the address of a service which stands in for something real. */
  readonly standIns?: readonly string[]
}

/** What else there is to the address of another service. */
export type ServiceUrlOptions = Pick<Setting, 'env' | 'when' | 'optional' | 'early'>

/** The address of another service of the house; empty means the one started beside this one. */
export const serviceUrl = (service: string, description: string, more: ServiceUrlOptions = {}) =>
  ({
    type: 'string',
    default: '',
    pattern: HTTP_URL,
    form: URL_FORM,
    service,
    description,
    ...more,
  }) as const

/** The addresses of the nodes of another service of the house, separated by commas; otherwise as `serviceUrl`. */
export const serviceUrls = (...given: Parameters<typeof serviceUrl>) =>
  ({ ...serviceUrl(...given), pattern: HTTP_URLS, form: `${URL_FORM}, or several with commas between` }) as const

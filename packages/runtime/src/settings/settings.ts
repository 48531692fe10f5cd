import { checkHostEntry } from '../net/served-hosts.ts'
import { checkNetworkEntry } from '../net/networks.ts'
import {
  defineSettings,
  HTTP_URL_PATTERN,
  URL_DESCRIPTION,
  type SettingTable,
  type SettingValues,
} from './define-settings.ts'

/**
 * Server adapters of hot routes: Fastify, Node's HTTP server ahead of it, or a raw adapter that reads sockets itself.
 */
export const SERVERS = ['fastify', 'node-http', 'raw'] as const

/** Milliseconds. */
const duration = { type: 'integer', minimum: 1, maximum: 3_600_000 } as const
const requestLimit = { type: 'integer', default: 0, minimum: 0, maximum: 1_000_000_000 } as const
const textList = { type: 'array', items: { type: 'string', minLength: 1 }, default: [] } as const

/**
 * The settings that every service has. `env` names an environment variable that all services share. Each setting can
 * also be set for one service only (`STATS_PORT`).
 */
export const commonSettings = defineSettings({
  host: {
    type: 'string',
    default: '127.0.0.1',
    minLength: 1,
    description: 'listen address; addresses other than loopback require a token',
  },
  port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'listen port; 0 for a free port' },
  threads: {
    type: 'string',
    default: '1',
    pattern: '^(auto|[0-9]|[1-5][0-9]|6[0-4])$',
    patternDescription: 'a whole number from 0 to 64, or auto',
    description: 'serving threads: 0 (main thread) to 64, or auto (one per CPU)',
  },
  variant: { type: 'string', default: '', description: 'named combination of settings' },
  data: {
    type: 'string',
    default: '',
    group: 'storage',
    description: 'data folder; without a service name the parent of all data folders',
  },
  apiToken: {
    type: 'string',
    default: '',
    env: 'API_TOKEN',
    secret: true,
    group: 'HTTP',
    description: 'bearer token that every write requires',
  },
  readToken: {
    type: 'string',
    default: '',
    env: 'READ_TOKEN',
    secret: true,
    group: 'HTTP',
    description: 'bearer token that every read requires',
  },
  allowedHosts: {
    ...textList,
    check: checkHostEntry,
    env: 'ALLOWED_HOSTS',
    group: 'HTTP',
    description: 'accepted Host headers: names, addresses, networks (10.0.0.0/8)',
  },
  tlsCert: { type: 'string', default: '', group: 'TLS', description: 'certificate file (PEM); enables TLS' },
  tlsKey: { type: 'string', default: '', group: 'TLS', description: 'private key file of the certificate (PEM)' },
  trustProxy: {
    ...textList,
    check: checkNetworkEntry,
    env: 'TRUST_PROXY',
    group: 'HTTP',
    description: 'addresses and networks of proxies with trusted X-Forwarded-For',
  },
  corsOrigins: {
    ...textList,
    env: 'CORS_ORIGINS',
    group: 'HTTP',
    description: 'origins of pages that may call this service (CORS)',
  },
  server: {
    type: 'string',
    enum: SERVERS,
    default: 'raw',
    group: 'HTTP',
    description: 'server adapter of hot routes',
  },
  maxConnections: {
    type: 'integer',
    default: 65_536,
    minimum: 1,
    maximum: 10_000_000,
    group: 'limits',
    description: 'maximum open connections per thread',
  },
  maxConnectionsPerIp: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 10_000_000,
    group: 'limits',
    formerly: 'addressConnections',
    description: 'maximum open connections per address and thread; 0 for no limit',
  },
  rateLimitPerIp: {
    ...requestLimit,
    group: 'limits',
    formerly: 'addressLimit',
    description: 'maximum requests per address and window; 0 for no limit',
  },
  rateLimitPerToken: {
    ...requestLimit,
    group: 'limits',
    formerly: 'tokenLimit',
    description: 'maximum requests per token and window; 0 for no limit',
  },
  rateLimitWindow: {
    type: 'integer',
    default: 60,
    minimum: 1,
    maximum: 86_400,
    group: 'limits',
    formerly: 'limitWindow',
    description: 'window of both rate limits (s)',
  },
  maxWriteBuffer: {
    type: 'integer',
    default: 65_536,
    minimum: 1,
    maximum: 1_073_741_824,
    group: 'limits',
    formerly: 'maxUnread',
    description: 'unread reply bytes at which a connection is paused (bytes)',
  },
  sendTimeout: {
    ...duration,
    default: 30_000,
    group: 'limits',
    description: 'timeout of a client that does not read its reply (ms)',
  },
  maxSemiSpaceSize: {
    type: 'integer',
    default: 16,
    minimum: 1,
    maximum: 64,
    formerly: 'semiSpace',
    description: 'V8 semi-space of each serving thread (MiB)',
  },
  bodyLimit: {
    type: 'integer',
    default: 1_048_576,
    minimum: 1,
    maximum: 1_073_741_824,
    group: 'limits',
    description: 'maximum request body (bytes)',
  },
  clientMemoryLimit: {
    type: 'integer',
    default: 268_435_456,
    minimum: 1_048_576,
    maximum: 1_099_511_627_776,
    group: 'limits',
    formerly: 'clientMemory',
    description: 'maximum memory of bodies, replies and unread streams (bytes)',
  },
  maxQueueDelay: {
    ...duration,
    minimum: 0,
    default: 50,
    group: 'limits',
    formerly: 'maxWait',
    description: 'queue delay above which requests get 503 (ms); 0 for no limit',
  },
  headersTimeout: { ...duration, default: 5_000, group: 'HTTP', description: 'timeout of a request head (ms)' },
  requestTimeout: { ...duration, default: 10_000, group: 'HTTP', description: 'timeout of a whole request (ms)' },
  keepAliveTimeout: { ...duration, default: 72_000, group: 'HTTP', description: 'timeout of an idle connection (ms)' },
  shutdownTimeout: { ...duration, default: 10_000, description: 'graceful shutdown timeout (ms)' },
  watchdogTimeout: {
    ...duration,
    default: 5_000,
    formerly: 'stuckTimeout',
    description: 'time after which an unresponsive thread is replaced (ms)',
  },
  requestLogSampling: {
    type: 'integer',
    default: 1,
    minimum: 0,
    maximum: 1_000_000,
    group: 'logging and tracing',
    formerly: 'logRequests',
    description: 'one log line per N requests, without hot routes; 0 for none',
  },
  hotRequestLogSampling: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    group: 'logging and tracing',
    formerly: 'logHotRequests',
    description: 'one log line per N requests of hot routes; 0 for none',
  },
  otlpEndpoint: {
    type: 'string',
    default: '',
    pattern: HTTP_URL_PATTERN,
    patternDescription: URL_DESCRIPTION,
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    group: 'logging and tracing',
    description: 'URL of an OpenTelemetry collector (OTLP, HTTP, JSON)',
  },
  otlpHeaders: {
    type: 'string',
    default: '',
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    secret: true,
    group: 'logging and tracing',
    description: 'headers for the collector: name=value,name=value',
  },
  traceSample: {
    type: 'string',
    default: '1',
    pattern: '^(0(\\.\\d+)?|1(\\.0+)?)$',
    patternDescription: 'a number from 0 to 1',
    env: 'OTEL_TRACES_SAMPLER_ARG',
    group: 'logging and tracing',
    description: 'share of requests to trace if the client did not decide (0 to 1)',
  },
  logLevel: {
    type: 'string',
    enum: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    group: 'logging and tracing',
    description: 'minimum level of log lines',
  },
})

/** Values of the settings that every service has. Durations are in milliseconds, sizes in bytes. */
export type CommonSettings = SettingValues<typeof commonSettings> & StandInSettings

/** Settings of one service in the form that processes and threads exchange. */
export type ServiceConfig = CommonSettings & Record<string, unknown>

/** The part of a service that its settings depend on. */
export interface ConfigurableService {
  readonly name: string
  readonly summary: string
  readonly port: number
  readonly settings: SettingTable
  readonly variants?: Readonly<Record<string, object>>
  readonly standsIn?: string
}

/** Values that the supervisor sets when it starts services together. */
export type StandInSettings = {
  /** Names of the settings that contain the address of a stand-in. */
  readonly standIns?: readonly string[]
}

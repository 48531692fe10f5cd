import { checkHostEntry } from '../net/served-hosts.ts'
import { checkNetworkEntry } from '../net/networks.ts'
import {
  defineSettings,
  HTTP_URL_PATTERN,
  inGroup,
  URL_DESCRIPTION,
  type SettingTable,
  type SettingValues,
} from './define-settings.ts'

/**
 * Server adapters of hot routes: Fastify, Node's HTTP server ahead of it, or a raw adapter that reads sockets itself.
 */
export const SERVERS = ['fastify', 'node-http', 'raw'] as const

const text = { type: 'string', default: '' } as const
const textList = { type: 'array', items: { type: 'string', minLength: 1 }, default: [] } as const
const integer = (defaultValue: number, minimum: number, maximum: number) =>
  ({ type: 'integer', default: defaultValue, minimum, maximum }) as const
/** Milliseconds. */
const duration = (defaultValue: number, minimum = 1) => integer(defaultValue, minimum, 3_600_000)

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
    description: 'serving threads: 0 (main thread) to 64, or auto (by CPUs and memory)',
  },
  variant: { ...text, description: 'named combination of settings' },
  maxSemiSpaceSize: {
    ...integer(16, 1, 64),
    formerly: 'semiSpace',
    description: 'V8 semi-space of each serving thread (MiB)',
  },
  shutdownTimeout: { ...duration(10_000), description: 'graceful shutdown timeout (ms)' },
  watchdogTimeout: {
    ...duration(5_000),
    formerly: 'stuckTimeout',
    description: 'time after which an unresponsive thread is replaced (ms)',
  },
  ...inGroup('storage', {
    data: { ...text, description: 'data folder; without a service name the parent of all data folders' },
  }),
  ...inGroup('HTTP', {
    apiToken: { ...text, env: 'API_TOKEN', secret: true, description: 'bearer token that every write requires' },
    readToken: { ...text, env: 'READ_TOKEN', secret: true, description: 'bearer token that every read requires' },
    allowedHosts: {
      ...textList,
      check: checkHostEntry,
      env: 'ALLOWED_HOSTS',
      description: 'accepted Host headers: names, addresses, networks (10.0.0.0/8)',
    },
    trustProxy: {
      ...textList,
      check: checkNetworkEntry,
      env: 'TRUST_PROXY',
      description: 'addresses and networks of proxies with trusted X-Forwarded-For',
    },
    corsOrigins: {
      ...textList,
      env: 'CORS_ORIGINS',
      description: 'origins of pages that may call this service (CORS)',
    },
    server: { type: 'string', enum: SERVERS, default: 'raw', description: 'server adapter of hot routes' },
    headersTimeout: { ...duration(5_000), description: 'timeout of a request head (ms)' },
    requestTimeout: { ...duration(10_000), description: 'timeout of a whole request (ms)' },
    keepAliveTimeout: { ...duration(72_000), description: 'timeout of an idle connection (ms)' },
  }),
  ...inGroup('limits', {
    maxConnections: { ...integer(65_536, 1, 10_000_000), description: 'maximum open connections per thread' },
    maxConnectionsPerIp: {
      ...integer(0, 0, 10_000_000),
      formerly: 'addressConnections',
      description: 'maximum open connections per address and thread; 0 for no limit',
    },
    rateLimitPerIp: {
      ...integer(0, 0, 1_000_000_000),
      formerly: 'addressLimit',
      description: 'maximum requests per address and window; 0 for no limit',
    },
    rateLimitPerToken: {
      ...integer(0, 0, 1_000_000_000),
      formerly: 'tokenLimit',
      description: 'maximum requests per token and window; 0 for no limit',
    },
    rateLimitWindow: {
      ...integer(60, 1, 86_400),
      formerly: 'limitWindow',
      description: 'window of both rate limits (s)',
    },
    maxWriteBuffer: {
      ...integer(65_536, 1, 1_073_741_824),
      formerly: 'maxUnread',
      description: 'unread reply bytes at which a connection is paused (bytes)',
    },
    sendTimeout: { ...duration(30_000), description: 'timeout of a client that does not read its reply (ms)' },
    bodyLimit: { ...integer(1_048_576, 1, 1_073_741_824), description: 'maximum request body (bytes)' },
    clientMemoryLimit: {
      ...integer(268_435_456, 1_048_576, 1_099_511_627_776),
      formerly: 'clientMemory',
      description: 'maximum memory of bodies, replies and unread streams (bytes)',
    },
    maxQueueDelay: {
      ...duration(50, 0),
      formerly: 'maxWait',
      description: 'queue delay above which requests get 503 (ms); 0 for no limit',
    },
  }),
  ...inGroup('TLS', {
    tlsCert: { ...text, description: 'certificate file (PEM); enables TLS' },
    tlsKey: { ...text, description: 'private key file of the certificate (PEM)' },
  }),
  ...inGroup('logging and tracing', {
    requestLogSampling: {
      ...integer(1, 0, 1_000_000),
      formerly: 'logRequests',
      description: 'one log line per N requests, without hot routes; 0 for none',
    },
    hotRequestLogSampling: {
      ...integer(0, 0, 1_000_000),
      formerly: 'logHotRequests',
      description: 'one log line per N requests of hot routes; 0 for none',
    },
    otlpEndpoint: {
      ...text,
      pattern: HTTP_URL_PATTERN,
      patternDescription: URL_DESCRIPTION,
      env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      description: 'URL of an OpenTelemetry collector (OTLP, HTTP, JSON)',
    },
    otlpHeaders: {
      ...text,
      env: 'OTEL_EXPORTER_OTLP_HEADERS',
      secret: true,
      description: 'headers for the collector: name=value,name=value',
    },
    traceSample: {
      type: 'string',
      default: '1',
      pattern: '^(0(\\.\\d+)?|1(\\.0+)?)$',
      patternDescription: 'a number from 0 to 1',
      env: 'OTEL_TRACES_SAMPLER_ARG',
      description: 'share of requests to trace if the client did not decide (0 to 1)',
    },
    logLevel: {
      type: 'string',
      enum: ['debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      description: 'minimum level of log lines',
    },
  }),
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
  /** Number of services that start together, and share the memory of their container. */
  readonly services?: number
}

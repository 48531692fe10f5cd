import { FULL_BASE_ENTRIES } from '../load/requests/kv-entries.ts'
import { createSpec, type Spec } from '../spec.ts'
import { workloads } from '../tables/all.ts'

/** Flags of `pnpm bench SERVICE --rate N`. */
export const RATE_FLAGS = {
  rate: { type: 'string' },
  op: { type: 'string' },
  base: { type: 'string' },
  seconds: { type: 'string' },
  url: { type: 'string' },
  variant: { type: 'string' },
  threads: { type: 'string' },
} as const

/** Operations that `--op` selects for kv. */
export const KV_OPERATIONS = {
  put: { method: 'PUT', needsEntries: false },
  'durable-put': { method: 'PUT', drawer: 'kv-put-durable', needsEntries: false },
  get: { method: 'GET', needsEntries: true },
  delete: { method: 'DELETE', needsEntries: true },
} as const

/** Options of a run at a constant rate. */
export interface RateOptions {
  readonly spec: Spec
  /** An operation of kv, or a workload of another service; undefined for the first workload of that service. */
  readonly op: string | undefined
  /** Number of entries of kv before the run; undefined for other services. */
  readonly base: number | undefined
  /** Requests per second. */
  readonly rate: number
  readonly connections: number
  /** Measured seconds. */
  readonly seconds: number
  /** URL of a running service; undefined if the command starts one. */
  readonly url: string | undefined
}

type RateFlagValues = { readonly [name in keyof typeof RATE_FLAGS | 'connections']?: string | undefined }

const DEFAULT_DURATION_S = 10
const DEFAULT_CONNECTIONS = 1

/** Parses the value of a flag. @throws Error naming the flag if the value is not above 0 */
export function parsePositive(name: string, text: string | undefined, fallback: number, isInteger = false): number {
  const value = text === undefined ? fallback : Number(text)
  if (!(value > 0) || value === Infinity || (isInteger && !Number.isInteger(value)))
    throw new Error(`--${name} is not ${isInteger ? 'an integer' : 'a number'} above 0`)
  return value
}

function parseOrigin(url: string): string {
  const { protocol, origin } = URL.parse(url) ?? {}
  if (protocol !== 'http:') throw new Error('--url is not an http:// address')
  return origin!
}

/** Returns the service with its variant and settings. A running service already has them. */
function toSpec(spec: Spec, { variant = spec.variant, threads, url }: RateFlagValues): Spec {
  if (spec.work) throw new Error('with --rate, --op names the workload')
  if (spec.variant && spec.variant !== variant) throw new Error('the spec and --variant name different variants')
  const settings =
    threads === undefined
      ? spec.settings
      : { ...spec.settings, threads: String(parsePositive('threads', threads, NaN, true)) }
  if (url !== undefined && (variant || Object.keys(settings).length > 0))
    throw new Error('variant and settings are those of the service at --url')
  return createSpec(spec.service, variant, settings)
}

function parseBase(op: keyof typeof KV_OPERATIONS, { base, url }: RateFlagValues): number {
  const { needsEntries } = KV_OPERATIONS[op]
  if (needsEntries && url !== undefined && base === undefined)
    throw new Error(`--op ${op} at --url needs --base N: the run puts the ids 0 to N - 1 first`)
  if (base === 'full' || (base === undefined && needsEntries)) return FULL_BASE_ENTRIES
  if (base !== undefined && base !== 'empty') return parsePositive('base', base, NaN, true)
  if (needsEntries) throw new Error(`--op ${op} needs a base with entries`)
  return 0
}

const isOneOf = <T extends object>(names: T, name: string): name is Extract<keyof T, string> =>
  Object.hasOwn(names, name)

/** Parses the options of a run. @throws Error that names the wrong flag */
export function parseRateOptions(
  specs: readonly Spec[],
  values: RateFlagValues & { readonly rate: string },
): RateOptions {
  const [given] = specs
  if (!given || specs.length > 1) throw new Error('--rate takes one service: pnpm bench kv --rate 6000')
  const spec = toSpec(given, values)
  const { service } = spec
  const isKv = service === 'kv'
  const op = isKv ? (values.op ?? 'put') : values.op
  const known = isKv ? KV_OPERATIONS : (workloads[service] ?? {})
  if (op !== undefined && !isOneOf(known, op)) throw new Error(`--op is one of ${Object.keys(known).join(', ')}`)
  if (!isKv && values.base !== undefined) throw new Error('--base is for kv')
  return {
    spec,
    op,
    base: isKv ? parseBase(op as keyof typeof KV_OPERATIONS, values) : undefined,
    rate: parsePositive('rate', values.rate, NaN),
    connections: parsePositive('connections', values.connections, DEFAULT_CONNECTIONS, true),
    seconds: parsePositive('seconds', values.seconds, DEFAULT_DURATION_S),
    url: values.url === undefined ? undefined : parseOrigin(values.url),
  }
}

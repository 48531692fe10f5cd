import { resolveWithin } from '@influencer-stats/runtime/async/resolve-within'
import type { DataSource, ServiceStatus, SystemStatus } from '../core/system-status.ts'
import type { ServiceProxy } from './service-proxy.ts'

/** A service that does not reply within this time is unavailable (ms). */
const PROBE_TIMEOUT_MS = 3_000
/** All pages of a thread share the result of a probe for this time (ms). */
const PROBE_AGE_MS = 1_000
const MAX_REPLY_BYTES = 65_536
/** The fields of the YouTube status that the reader of a shared page sees. The other fields are for operators. */
const PUBLIC_FIELDS = ['state', 'since'] as const

/** Probes the services when a page polls, at most once per `PROBE_AGE_MS` for all pages of this thread. */
export class ServiceMonitor {
  readonly #proxy: ServiceProxy
  readonly #token: string | undefined
  readonly #source: () => Promise<DataSource | undefined>
  #status: Promise<SystemStatus> | undefined
  #probedAt = -Infinity

  constructor(proxy: ServiceProxy, token: string | undefined, source: () => Promise<DataSource | undefined>) {
    this.#proxy = proxy
    this.#token = token
    this.#source = source
  }

  getStatus(): Promise<SystemStatus> {
    const now = performance.now()
    if (!this.#status || now - this.#probedAt > PROBE_AGE_MS) {
      this.#probedAt = now
      this.#status = this.#observe()
    }
    return this.#status
  }

  /** The status for the reader of a shared page: of the services only stats and sse, of YouTube only `PUBLIC_FIELDS`. */
  async getPublicStatus(): Promise<SystemStatus> {
    const { upstream, ...status } = await this.getStatus()
    const shown = PUBLIC_FIELDS.filter((name) => upstream?.[name] !== undefined)
    return {
      ...status,
      services: status.services.filter(({ name }) => name === 'stats' || name === 'sse'),
      ...(upstream && { upstream: Object.fromEntries(shown.map((name) => [name, upstream[name]])) }),
    }
  }

  async #observe(): Promise<SystemStatus> {
    const [services, source, upstream] = await Promise.all([
      Promise.all(this.#proxy.services.map((name) => this.#probeService(name))),
      withTimeout(this.#source()),
      this.#readUpstream(),
    ])
    return { at: new Date().toISOString(), services, ...(source && { source }), ...(upstream && { upstream }) }
  }

  /** The state of a service is that of its best node, because requests go to another node if one does not respond. */
  async #probeService(name: string): Promise<ServiceStatus> {
    const nodes = this.#proxy.nodes.filter((node) => node.split('.')[0] === name)
    const observed = await Promise.all(nodes.map((node) => this.#probe(node)))
    const best = observed.find(({ state }) => state === 'ok') ?? observed.find(({ state }) => state === 'not-ready')
    return { name, ...(best ?? { state: 'unavailable' }) }
  }

  async #probe(node: string): Promise<Omit<ServiceStatus, 'name'>> {
    const reply = await this.#read(node, '/readyz')
    if (reply === undefined) return { state: 'unavailable' }
    if (reply.status === 200) return { state: 'ok' }
    return { state: 'not-ready', ...(typeof reply.body?.detail === 'string' && { detail: reply.body.detail }) }
  }

  async #readUpstream(): Promise<SystemStatus['upstream']> {
    if (!this.#proxy.services.includes('stats')) return undefined
    const reply = await this.#read('stats', '/upstream')
    return reply?.status === 200 ? reply.body : undefined
  }

  /** A small JSON reply. `undefined` if none arrived in time. */
  #read(node: string, path: string) {
    const reply = this.#proxy.read(node, path, this.#token, MAX_REPLY_BYTES)
    return withTimeout(reply.then(({ status, text }) => ({ status, body: toObject(text) })))
  }
}

/** The result of the promise. `undefined` if it failed or took too long. */
export const withTimeout = <T>(promise: Promise<T>): Promise<T | undefined> =>
  resolveWithin(
    promise.catch(() => undefined),
    PROBE_TIMEOUT_MS,
    () => undefined,
  )

function toObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

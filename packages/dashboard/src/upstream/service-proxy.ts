import { Transform } from 'node:stream'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import { readText } from '@influencer-stats/runtime/http-client'
import type { AppContext } from '@influencer-stats/runtime/service'
import type { FastifyReply } from 'fastify'
import { errors } from '../errors.ts'
import { SERVICES } from '../core/route-allowlist.ts'
import type { DashboardConfig } from '../settings.ts'
import { UpstreamPool } from './upstream-pool.ts'
import type { UpstreamReply, UpstreamRequest } from './upstream-node.ts'

const EVENT_STREAM_TYPE = 'text/event-stream'
/** Statuses whose replies never have a body. */
const EMPTY_STATUSES = new Set([204, 304])

interface ForwardOptions {
  /** Signal that ends a stream early. */
  readonly ended?: AbortSignal
  /**
   * Called when the reply of the service has begun, and for each chunk of a stream. If it rejects, the reply is not sent,
   * or the stream ends before that chunk.
   */
  readonly confirm?: () => Promise<unknown>
}

/** Forwards requests of pages to the services, and streams the replies back. */
export class ServiceProxy {
  readonly #services: ReadonlyMap<string, UpstreamPool>
  readonly #drain: AbortSignal
  readonly #maxStreams: number
  #streams = 0

  constructor({
    config,
    registry,
    lifecycle,
  }: Pick<AppContext<DashboardConfig, any, any>, 'config' | 'registry' | 'lifecycle'>) {
    const uris: Record<string, string> = {
      stats: config.statsUri,
      sse: config.sseUri,
      prices: config.pricesUri,
      kv: config.kvUri,
    }
    const configured = SERVICES.filter((name) => uris[name])
    this.#services = new Map(configured.map((name) => [name, new UpstreamPool(uris[name]!, config.serviceTimeout)]))
    this.#drain = lifecycle.drain
    this.#maxStreams = config.maxStreams
    registerGauge(registry, 'dashboard_streams', 'Open streams of pages.', () => this.#streams)
  }

  /** The names of the configured services. */
  get services(): readonly string[] {
    return [...this.#services.keys()]
  }

  /** All nodes by the names that pages use. A service with one node has only its name. */
  get nodes(): readonly string[] {
    return [...this.#services].flatMap(([name, { count }]) =>
      count === 1 ? [name] : Array.from({ length: count }, (_, i) => `${name}.${i + 1}`),
    )
  }

  /**
   * Sends a request to a service.
   * @param name name of a service, or of one of its nodes
   * @throws Problem `SERVICE_UNKNOWN`, `SERVICE_UNREACHABLE`, `SERVICE_SLOW`
   */
  async request(name: string, request: UpstreamRequest): Promise<UpstreamReply> {
    const [service, node] = name.split('.')
    const nodes = this.#services.get(service!)
    if (!nodes) throw errors.SERVICE_UNKNOWN()
    return nodes.request(request, node === undefined ? undefined : Number(node))
  }

  /**
   * Reads a small reply.
   * @param limit maximum size of its body (bytes)
   * @throws Problem as `request`; `SERVICE_UNREACHABLE`, too, if the body exceeds the limit or is truncated
   */
  async read(name: string, path: string, token: string | undefined, limit: number) {
    const { status, body } = await this.request(name, { method: 'GET', path, headers: {}, token })
    try {
      return { status, text: await readText(body, limit) }
    } catch (cause) {
      throw errors.SERVICE_UNREACHABLE(undefined, { cause })
    }
  }

  /**
   * Sends a request to a service and streams its reply to the client, no faster than the client reads.
   * @throws Problem as `request` and `confirm`, and `TOO_MANY_STREAMS`
   */
  async forward(
    reply: FastifyReply,
    service: string,
    request: UpstreamRequest,
    options: ForwardOptions = {},
  ): Promise<FastifyReply> {
    const answer = await this.request(service, request)
    const { status, headers, body, abort } = answer
    try {
      await options.confirm?.()
    } catch (error) {
      abort()
      throw error
    }
    const output = headers['content-type']?.startsWith(EVENT_STREAM_TYPE) ? this.#stream(answer, options) : body
    void reply.code(status).headers({ ...headers, 'x-content-type-options': 'nosniff' })
    // A client that disconnected needs no more bytes.
    reply.raw.once('close', () => void (body.readableEnded || abort()))
    if (reply.raw.destroyed) abort()
    if (!EMPTY_STATUSES.has(status)) return reply.send(output)
    body.resume()
    return reply.send()
  }

  #stream({ body, abort }: UpstreamReply, { ended, confirm }: ForwardOptions): Transform {
    if (this.#streams >= this.#maxStreams) {
      abort()
      throw errors.TOO_MANY_STREAMS(undefined, { headers: { 'retry-after': '5' } })
    }
    this.#streams++
    let hasEnded = false
    const output = new Transform({
      async transform(chunk, _encoding, done) {
        const isConfirmed =
          !confirm ||
          (await confirm().then(
            () => true,
            () => false,
          ))
        if (isConfirmed && !hasEnded) return done(null, chunk)
        done()
        if (!hasEnded) end()
      },
    })
    // After the normal end of a stream the client reconnects at once. During a drain it then reaches another process.
    const end = () => {
      hasEnded = true
      body.unpipe(output)
      output.end()
      abort()
    }
    const signals = ended ? [this.#drain, ended] : [this.#drain]
    for (const signal of signals) signal.addEventListener('abort', end)
    if (signals.some(({ aborted }) => aborted)) end()
    body.on('error', () => output.end())
    output.once('close', () => {
      this.#streams--
      for (const signal of signals) signal.removeEventListener('abort', end)
    })
    return body.pipe(output)
  }

  close(): void {
    for (const nodes of this.#services.values()) nodes.close()
  }
}

import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** One request of the load. */
export interface LoadRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface MixedLoadOptions {
  readonly port: number
  readonly host?: string
  readonly clients: number
  /** Total number of requests. Default: until `stop`. */
  readonly total?: number
  /** True if a refused connection is tried again. All other faults count. */
  readonly retriesRefused?: boolean
  create(number: number, client: number): LoadRequest
}

export interface LoadResult {
  readonly sent: number
  /** Requests without a complete reply, and replies other than 2xx. */
  readonly failures: string[]
  /** Longest time from a request to its reply (ms). */
  readonly slowest: number
}

export interface MixedLoad {
  /** Number of requests sent until now. */
  readonly sent: number
  readonly done: Promise<LoadResult>
  stop(): void
}

// One request in ten opens a connection. The others reuse connections that were idle for up to this time (ms).
const NEW_CONNECTION_PERIOD_REQUESTS = 10
const MAX_IDLE_MS = 20
const REFUSED_DELAY_MS = 20

/** Starts clients that send mixed requests one after the other, on a shared pool of connections, and never retry. */
export function startMixedLoad(options: MixedLoadOptions): MixedLoad {
  const { port, host = '127.0.0.1', clients, total = Infinity, retriesRefused = false, create } = options
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  const failures: string[] = []
  let sent = 0
  let slowest = 0
  let isStopped = false

  function send({ method, path, headers, body }: LoadRequest, isNew: boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }
      const call = request(
        {
          host: '127.0.0.1',
          port,
          method,
          path,
          headers: { host, ...length, ...headers },
          agent: isNew ? false : agent,
        },
        (reply) => {
          reply.on('error', reject).on('end', () => resolve(reply.statusCode!))
          reply.resume()
        },
      )
      call.on('error', reject).end(body)
    })
  }

  async function runClient(client: number): Promise<void> {
    while (!isStopped && sent < total) {
      const number = sent++
      const one = create(number, client)
      const startedAt = performance.now()
      for (let isOpen = true; isOpen;) {
        isOpen = false
        try {
          const status = await send(one, number % NEW_CONNECTION_PERIOD_REQUESTS === 0)
          if (status < 200 || status > 299) failures.push(`${one.method} ${one.path}: ${status}`)
        } catch (error) {
          const { code, message } = error as NodeJS.ErrnoException
          isOpen = retriesRefused && code === 'ECONNREFUSED'
          if (isOpen) await delay(REFUSED_DELAY_MS)
          else failures.push(`${one.method} ${one.path}: ${code} ${message}`)
        }
      }
      slowest = Math.max(slowest, performance.now() - startedAt)
      await delay(Math.random() * MAX_IDLE_MS)
    }
  }

  const done = Promise.all(Array.from({ length: clients }, (_, client) => runClient(client))).then(() => {
    agent.destroy()
    return { sent, failures, slowest }
  })
  return {
    get sent() {
      return sent
    },
    done,
    stop: () => void (isStopped = true),
  }
}

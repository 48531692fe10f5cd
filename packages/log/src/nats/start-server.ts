import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findNatsServer } from './find-server.ts'
import { suspendProcess } from './suspend-process.ts'

export interface NatsServerOptions {
  /** Folder for the data and the configuration of the server. */
  readonly folder: string
  /** Port for clients; by default a free one. */
  readonly port?: number
  /** Additional lines of configuration. */
  readonly config?: string
  readonly jetstream?: boolean
  /** Maximum number of processors that the server uses; by default all. */
  readonly processors?: number
}

export interface NatsClusterOptions {
  /** Folder for the folders of the servers. */
  readonly folder: string
  /** Number of servers; by default 3. */
  readonly size?: number
  /**
   * For tests of the network: returns the address at which server `from` connects to server `to`, in place of `url`.
   */
  route?(from: number, to: number, url: string): Promise<string>
}

/** NATS server on the loopback interface of this machine. */
export interface NatsServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Folder of the data of JetStream. */
  readonly store: string
  /** Returns its log output. */
  log(): string
  /** Suspends its process. Resolves once all its threads are stopped. */
  suspend(): Promise<void>
  /** Resumes a suspended server. */
  resume(): void
  /** Stops the server. Resolves once its process has ended. Idempotent. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts a stopped server again, on the same port and with the same data. */
  restart(): Promise<void>
}

const START_TIMEOUT_MS = 20_000
// The system assigns ports above 32767 to outgoing connections, so they may be in use when a server restarts.
const MIN_PORT = 20_000
const PORT_COUNT = 12_000

/** Returns `count` free loopback ports from a range that the system does not assign to outgoing connections. */
export async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = MIN_PORT + Math.floor(Math.random() * PORT_COUNT)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    ports.add(port)
    server.close()
    await once(server, 'close')
  }
  return [...ports]
}

/** Starts a server. Resolves once it accepts connections. @throws Error with its log */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const { folder, config = '', jetstream = true, processors } = options
  const program = await findNatsServer()
  const port = options.port ?? (await findFreePorts(1))[0]!
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'nats.conf')
  // With `sync_interval: always` an acknowledged write survives a power cut. By default, a server syncs only every two
  // minutes.
  const store = join(folder, 'data')
  const storeConfig = jetstream ? `jetstream { store_dir: ${JSON.stringify(store)}, sync_interval: always }` : ''
  writeFileSync(file, `host: 127.0.0.1\nport: ${port}\n${storeConfig}\n${config}\n`)
  const env = { ...(processors && { GOMAXPROCS: String(processors) }), ...process.env }
  let output = ''
  let child: ChildProcess
  let closed: Promise<unknown>

  async function start(): Promise<void> {
    output = ''
    child = spawn(program, ['-c', file], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    closed = once(child, 'close')
    child.stderr!.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-65_536)))
    const deadline = performance.now() + START_TIMEOUT_MS
    while (!output.includes('Server is ready')) {
      if (hasExited(child) || performance.now() > deadline) {
        child.kill('SIGKILL')
        throw new Error(`nats-server did not start: ${output}`)
      }
      await delay(10)
    }
  }

  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid!
    },
    store,
    log: () => output,
    suspend: () => suspendProcess(child.pid!),
    resume: () => void child.kill('SIGCONT'),
    async stop(signal = 'SIGTERM') {
      if (!hasExited(child)) {
        // A suspended process handles no other signal.
        child.kill('SIGCONT')
        child.kill(signal)
      }
      await closed
    },
    restart: start,
  }
}

/** Starts the servers of a JetStream cluster. */
export async function startNatsCluster({ folder, size = 3, route }: NatsClusterOptions): Promise<NatsServer[]> {
  const ports = await findFreePorts(2 * size)
  // The servers share the processors of this machine. If each used all of them, a fifth of their time would be lost.
  const processors = Math.max(1, Math.floor(availableParallelism() / size))
  const urls = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`)
  const starting = urls.map(async (_, i) => {
    const routes = route ? await Promise.all(urls.flatMap((url, to) => (to === i ? [] : route(i, to, url)))) : urls
    // The addresses that servers advertise to each other would bypass the given routes.
    const advertise = route ? ', no_advertise: true, advertise: "127.0.0.1:1"' : ''
    return startNatsServer({
      folder: join(folder, `server-${i + 1}`),
      port: ports[i]!,
      processors,
      config:
        `server_name: server-${i + 1}\n` +
        `cluster { name: influencer-stats, listen: "127.0.0.1:${ports[size + i]}", routes: ${JSON.stringify(routes)}${advertise} }`,
    })
  })
  const results = await Promise.allSettled(starting)
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    throw failed.reason
  }
  return servers
}

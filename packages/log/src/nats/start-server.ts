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
  /** Where its data and its configuration are. */
  readonly folder: string
  /** A free one by default. */
  readonly port?: number
  /** More lines of configuration. */
  readonly config?: string
  readonly jetstream?: boolean
  /** So many processors it uses at once; all by default. */
  readonly processors?: number
}

export interface NatsClusterOptions {
  readonly folder: string
  readonly size?: number
  /** Where a server is told that another listens for it, if not where it does: that is for tests of networks. */
  route?(from: number, to: number, url: string): Promise<string>
}

/** A server of NATS on this machine, on loopback. */
export interface NatsServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** What it has written to its log. */
  log(): string
  /** Has it stand still, and waits until it does. */
  suspend(): Promise<void>
  /** One that stands still goes on. */
  resume(): void
  /** Ends it, and waits until it is gone. Idempotent. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** On the same port, with the same data. */
  restart(): Promise<void>
}

const START_TIMEOUT_MS = 20_000
// Ports above 32767 are given to connections that go out, and are taken when a server wants them back.
const MIN_PORT = 20_000
const PORT_COUNT = 12_000

/** So many ports of loopback that are free, and are not given to connections that go out. */
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

/** Starts one, and waits until it takes connections. @throws Error with its log */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const { folder, config = '', jetstream = true, processors } = options
  const program = await findNatsServer()
  const port = options.port ?? (await findFreePorts(1))[0]!
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'nats.conf')
  // An acknowledged change outlives a power cut: by default a server syncs every two minutes.
  const store = jetstream
    ? `jetstream { store_dir: ${JSON.stringify(join(folder, 'data'))}, sync_interval: always }`
    : ''
  writeFileSync(file, `host: 127.0.0.1\nport: ${port}\n${store}\n${config}\n`)
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
      if (child.exitCode !== null || performance.now() > deadline) {
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
    log: () => output,
    suspend: () => suspendProcess(child.pid!),
    resume: () => void child.kill('SIGCONT'),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        // One that stands still takes no other signal.
        child.kill('SIGCONT')
        child.kill(signal)
      }
      await closed
    },
    restart: start,
  }
}

/** Servers that are one cluster of JetStream. */
export async function startNatsCluster({ folder, size = 3, route }: NatsClusterOptions): Promise<NatsServer[]> {
  const ports = await findFreePorts(2 * size)
  // They share this machine's: each of them looking for work on all costs a fifth of their time.
  const processors = Math.max(1, Math.floor(availableParallelism() / size))
  const urls = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`)
  const starting = urls.map(async (_, i) => {
    const routes = route ? await Promise.all(urls.flatMap((url, to) => (to === i ? [] : route(i, to, url)))) : urls
    // What servers tell each other of addresses would lead past those that they were given.
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

import { findFreePorts } from '@influencer-stats/log/nats-server'
import { join } from 'node:path'
import type { ConstantReply } from './bare.ts'
import { combineProcesses, startTogether, type BenchTarget, type TargetProcess } from './target.ts'
import { createGoProgram } from './go.ts'
import { createProgramTarget } from './program.ts'

/** Lets a Go program run on one processor at a time, like a service with one serving thread. */
const ONE_PROCESSOR = { GOMAXPROCS: '1' }

// Go programs, built from `bench/peers`.

const { path: command, build } = createGoProgram('peers')
/** Creates the target of a server in the Go program. @param args arguments after the folder and the port */
export const createGoTarget = (name: string, kind: string, ...args: string[]): BenchTarget =>
  createProgramTarget({
    name,
    needs: ['go'],
    command,
    env: ONE_PROCESSOR,
    args: (folder, port) => [kind, folder, String(port), ...args],
    build,
  })

/** Entries in goleveldb with net/http. As in kv, a write is in the database's log before its reply, but not synced. */
export const goleveldb = createGoTarget('Go: goleveldb with net/http', 'kv')

/** net/http that parses the request body and sends a constant reply. */
export const createGoParserTarget = ({ status, headers, body }: ConstantReply): BenchTarget =>
  createGoTarget('Go: net/http, body parsed', 'parse', String(status), headers['content-type']!, body)

/** The engine of Centrifugo with net/http and the defaults of its library, except that clients need not send pongs. */
export const centrifuge = createGoTarget("Centrifugo's engine", 'centrifuge')

// Debian packages.

/** Caddy with one reply for all requests. */
export const createCaddyTarget = ({ status, headers, body }: ConstantReply): BenchTarget =>
  createProgramTarget({
    name: 'Caddy',
    command: 'caddy',
    env: ONE_PROCESSOR,
    args: (folder) => ['run', '--config', join(folder, 'caddy.json')],
    files: (_folder, port) => {
      const reply = { handler: 'static_response', status_code: status, body }
      // Caddy sets the length itself. If a header name had another case, Caddy would add its own header in addition.
      const toHeaderCase = (name: string) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
      const { 'content-length': _, ...others } = headers
      const own = Object.fromEntries(Object.entries(others).map(([name, value]) => [toHeaderCase(name), [value]]))
      const routes = [{ handle: [{ ...reply, headers: own }] }]
      const servers = { one: { listen: [`127.0.0.1:${port}`], routes, automatic_https: { disable: true } } }
      return { 'caddy.json': JSON.stringify({ admin: { disabled: true }, apps: { http: { servers } } }) }
    },
  })

const redis = createProgramTarget({
  name: 'Redis',
  command: 'redis-server',
  args: (folder, port) =>
    `--port ${port} --bind 127.0.0.1 --dir ${folder} --save --appendonly yes --appendfsync everysec`.split(' '),
})

/** Redis with webdis. The log of Redis is written before the reply to a write, and synced each second. */
export const webdis: BenchTarget = {
  name: 'Redis with webdis',
  needs: ['webdis', 'redis-server'],
  async start(): Promise<TargetProcess> {
    const store = await redis.start()
    const gateway = createProgramTarget({
      name: 'webdis',
      command: 'webdis',
      args: (folder) => [join(folder, 'webdis.json')],
      files: (folder, port) => ({
        'webdis.json': JSON.stringify({
          redis_host: '127.0.0.1',
          redis_port: Number(new URL(store.url).port),
          http_host: '127.0.0.1',
          http_port: port,
          threads: 1,
          pool_size: 16,
          daemonize: false,
          logfile: join(folder, 'webdis.log'),
          verbosity: 0,
        }),
      }),
    })
    try {
      const running = await gateway.start()
      const stop = () => running.stop().finally(() => store.stop())
      return { ...running, extraPids: [store.pid], stop }
    } catch (error) {
      await store.stop()
      throw error
    }
  },
}

const buildEtcdFlags = (folder: string, port: number, more: Readonly<Record<string, string>>) => {
  const clients = `http://127.0.0.1:${port}`
  const urls = { 'listen-client-urls': clients, 'advertise-client-urls': clients }
  const all = { 'data-dir': folder, 'log-level': 'error', ...urls, ...more }
  return Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])
}

/** One etcd with its JSON gateway. It syncs each write before its reply. */
export const etcd: BenchTarget = createProgramTarget({
  name: 'etcd',
  command: 'etcd',
  env: ONE_PROCESSOR,
  args: (folder, port) => buildEtcdFlags(folder, port, { 'listen-peer-urls': 'http://127.0.0.1:0' }),
})

/** A cluster of three etcd members, each on any processor. */
export const etcdCluster: BenchTarget = {
  name: 'etcd, three members',
  needs: ['etcd'],
  async start() {
    const urls = (await findFreePorts(3)).map((port) => `http://127.0.0.1:${port}`)
    const cluster = urls.map((url, i) => `m${i}=${url}`).join(',')
    const members = urls.map((url, i) => {
      const own = {
        name: `m${i}`,
        'listen-peer-urls': url,
        'initial-advertise-peer-urls': url,
        'initial-cluster': cluster,
      }
      const args = (folder: string, port: number) => buildEtcdFlags(folder, port, own)
      // All members start at the same time, because each waits for a majority.
      return createProgramTarget({ name: `etcd m${i}`, command: 'etcd', env: ONE_PROCESSOR, args, pin: [] }).start()
    })
    const started = await startTogether(members)
    return combineProcesses(started, async () => void (await Promise.all(started.map(({ stop }) => stop()))))
  },
}

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConstantReply } from './bare.ts'
import type { Contender, Running } from './contender.ts'
import { isHere, programContender } from './program.ts'
import { scriptContender } from './script.ts'

/** One processor for programs that would take all there are: every server here has one. */
const ONE = { GOMAXPROCS: '1' }

// In Go, made here from `bench/peers`.

const FOLDER = fileURLToPath(new URL('../../peers', import.meta.url))
const PROGRAM = join(tmpdir(), 'influencer-stats-peers')
export const goAvailable = (): boolean => isHere('go')

/** @param args those that it gets behind a folder of its own, which goes with it */
const inGo = (name: string, kind: string, ...args: string[]): Contender => ({
  name,
  async start() {
    const { status, stderr } = spawnSync('go', ['build', '-o', PROGRAM, '.'], { cwd: FOLDER, encoding: 'utf8' })
    if (status !== 0) throw new Error(`go could not build ${name}: ${stderr}`)
    const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-peer-'))
    const running = await scriptContender(name, { command: PROGRAM, env: ONE }, kind, folder, ...args).start()
    return { ...running, stop: () => running.stop().finally(() => rmSync(folder, { recursive: true, force: true })) }
  },
})

/** Entries in goleveldb behind net/http; as ours, a write is in the log of the database before it is answered, not synced. */
export const goleveldb = inGo('Go: goleveldb behind net/http', 'kv')

/** net/http that parses what it is sent and gives a constant reply. */
export const goParses = ({ status, headers, body }: ConstantReply): Contender =>
  inGo('Go: net/http, body parsed', 'parse', String(status), headers['content-type']!, body)

// Of Debian.

export const caddyAvailable = (): boolean => isHere('caddy')

/** Caddy with one reply for everything. */
export const caddy = ({ status, headers, body }: ConstantReply): Contender =>
  programContender({
    name: 'Caddy',
    command: 'caddy',
    env: ONE,
    args: (folder) => ['run', '--config', join(folder, 'caddy.json')],
    files: (_folder, port) => {
      const reply = { handler: 'static_response', status_code: status, body }
      // It would add names in another case once more, and tells the length itself.
      const named = (name: string) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
      const { 'content-length': _, ...others } = headers
      const own = Object.fromEntries(Object.entries(others).map(([name, value]) => [named(name), [value]]))
      const routes = [{ handle: [{ ...reply, headers: own }] }]
      const servers = { one: { listen: [`127.0.0.1:${port}`], routes, automatic_https: { disable: true } } }
      return { 'caddy.json': JSON.stringify({ admin: { disabled: true }, apps: { http: { servers } } }) }
    },
  })

export const webdisAvailable = (): boolean => isHere('webdis') && isHere('redis-server')

const redis = programContender({
  name: 'Redis',
  command: 'redis-server',
  args: (folder, port) =>
    `--port ${port} --bind 127.0.0.1 --dir ${folder} --save --appendonly yes --appendfsync everysec`.split(' '),
})

/** Redis behind webdis; its log is written before a write is answered, and synced each second. */
export const webdis: Contender = {
  name: 'Redis behind webdis',
  async start(): Promise<Running> {
    const store = await redis.start()
    const door = programContender({
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
      const running = await door.start()
      const stop = () => running.stop().finally(() => store.stop())
      return { ...running, beside: [store.pid], stop }
    } catch (error) {
      await store.stop()
      throw error
    }
  },
}

export const etcdAvailable = (): boolean => isHere('etcd')

/** One etcd, which syncs each write before it is answered; its JSON gateway. */
export const etcd: Contender = programContender({
  name: 'etcd',
  command: 'etcd',
  env: ONE,
  args: (folder, port) => {
    const [clients, peers] = [`http://127.0.0.1:${port}`, 'http://127.0.0.1:0']
    const urls = { 'listen-client-urls': clients, 'advertise-client-urls': clients, 'listen-peer-urls': peers }
    return Object.entries({ 'data-dir': folder, 'log-level': 'error', ...urls }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ])
  },
})

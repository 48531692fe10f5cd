import { START_SCRIPT, spawnStart, type ReadyRow } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { findFreePorts, startNatsServer, type NatsServer } from '../src/nats/start-server.ts'
import { startTestNatsServer } from './support/nats.ts'

const USERS_CONF = readFileSync(new URL('../../../deploy/nats/users.conf', import.meta.url), 'utf8')

const passwordOf = (user: string) => `password-of-${user}`
beforeEach(() => {
  for (const user of ['kv', 'sse', 'stats', 'prices', 'operator', 'admin'])
    vi.stubEnv(`NATS_${user.toUpperCase()}_PASSWORD`, passwordOf(user))
})
afterEach(() => void vi.unstubAllEnvs())

/** Starts a node of kv. */
async function startNode(servers: readonly NatsServer[], replicas: number): Promise<ReadyRow> {
  const urls = servers.map(({ port }) => `nats://kv:${passwordOf('kv')}@127.0.0.1:${port}`).join(',')
  const cluster = ['--cluster', urls, '--nats-replicas', String(replicas)]
  const common = ['kv', '--port', '0', '--data', createTemporaryFolder(), '--log-level', 'error']
  return (await spawnStart([...common, ...cluster], {}, { script: START_SCRIPT }).waitUntilReady()).kv!
}

const put = ({ url }: ReadyRow, id: string, body: string | Buffer = id) =>
  fetch(`${url}/v0/entity?id=${id}`, { method: 'PUT', body })

/** Connects as a user to one of the servers. */
async function connectAs(user: string, servers: readonly NatsServer[]) {
  const nc = await connect({ servers: servers.map(({ url }) => url), user, pass: passwordOf(user) })
  onTestFinished(() => nc.close())
  return nc
}

test('servers restart one by one, and one is replaced for good, under writes', async () => {
  const ports = await findFreePorts(4)
  const start = async (i: number) => {
    const routes = ports.slice(0, 3).map((port) => `nats://127.0.0.1:${port}`)
    const cluster = `cluster { name: shipped, listen: "127.0.0.1:${ports[i]}", routes: ${JSON.stringify(routes)} }`
    const config = `server_name: server-${i + 1}\n${cluster}\n${USERS_CONF}`
    return startTestNatsServer({ config, processors: 1 })
  }
  const servers = await Promise.all([0, 1, 2].map(start))
  const operator = await jetstreamManager(await connectAs('operator', servers), { checkAPI: false })
  await waitUntil(() => operator.getAccountInfo().catch(() => false))
  const node = await startNode(servers, 3)
  const acknowledged: string[] = []
  const ending = new AbortController()
  const writing = (async () => {
    for (let i = 0; !ending.signal.aborted; i++) {
      const reply = await put(node, `entry-${i}`).catch(() => undefined)
      if (reply?.status === 201) acknowledged.push(`entry-${i}`)
      else await delay(20)
    }
  })()
  /** Waits until the stream has these servers, all with its data. */
  const waitForReplicas = (...names: string[]) =>
    waitUntil(async () => {
      const { cluster } = await operator.streams.info('kv').catch(() => ({ cluster: undefined }))
      const replicas = cluster?.replicas ?? []
      const current = replicas.filter(({ current, offline }) => current && !offline).map(({ name }) => name)
      return String([cluster?.leader, ...current].toSorted()) === String(names)
    })
  const waitForWrite = () => {
    const { length } = acknowledged
    return waitUntil(() => acknowledged.length > length)
  }
  await waitForReplicas('server-1', 'server-2', 'server-3')
  for (const server of servers) {
    await waitForWrite()
    await server.stop()
    await server.restart()
    await waitForReplicas('server-1', 'server-2', 'server-3')
  }

  await servers[2]!.stop('SIGKILL')
  servers[2] = await start(3)
  const admin = await connectAs('admin', servers.slice(0, 2))
  await waitUntil(async () => {
    const reply = await admin
      .request('$JS.API.SERVER.REMOVE', '{"peer":"server-3"}', { timeout: 5_000 })
      .catch(() => undefined)
    return reply?.json<{ success?: boolean }>().success
  })
  await waitForReplicas('server-1', 'server-2', 'server-4')
  await waitForWrite()
  ending.abort()
  await writing
  const missing = await Promise.all(
    acknowledged.map(async (id) => (await fetch(`${node.url}/v0/entity?id=${id}`)).status !== 200),
  )
  expect(missing).not.toContain(true)
})

test('no write fails when max_payload changes while nodes run', async () => {
  const folder = createTemporaryFolder()
  const server = await startNatsServer({ folder, config: USERS_CONF })
  onTestFinished(() => server.stop('SIGKILL'))
  const node = await startNode([server], 1)
  const file = join(folder, 'nats.conf')
  const config = readFileSync(file, 'utf8')
  expect((await put(node, 'large', Buffer.alloc(900_000, 'a'))).ok).toBe(true)
  for (const [i, limit] of ['64KB', '4MB'].entries()) {
    const logged = server.log().length
    writeFileSync(file, `${config}\nmax_payload: ${limit}\n`)
    process.kill(server.pid, 'SIGHUP')
    await waitUntil(() => server.log().slice(logged).includes('Reloaded: max_payload'))
    // The server closes the connection at the first message that is too large, and the node divides it further.
    const large = put(node, `large-${i}`, Buffer.alloc(900_000, 'b'))
    const small = Array.from({ length: 10 }, (_, n) => put(node, `small-${i}-${n}`))
    const replies = await Promise.all([large, ...small, put(node, `next-${i}`)])
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201))
    expect((await (await fetch(`${node.url}/v0/entity?id=large-${i}`)).arrayBuffer()).byteLength).toBe(900_000)
  }
})

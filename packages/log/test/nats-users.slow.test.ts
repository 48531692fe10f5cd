import { startNatsServer, type NatsServer } from '../src/nats/start-server.ts'
import {
  START_SCRIPT,
  spawnStart,
  type ReadyRow,
  type SpawnedStart,
} from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { connect } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

const USERS_CONF = readFileSync(new URL('../../../deploy/nats/users.conf', import.meta.url), 'utf8')
const SERVICES = ['kv', 'sse', 'stats', 'prices']
const JSON_TYPE = { 'content-type': 'application/json' }
const PRICE = { offeringId: 'o', groupId: 'g', priceSpecId: 'MRC', charValues: [], value: 9.5 }

const passwordOf = (user: string) => `password-of-${user}`
beforeEach(() => {
  for (const user of [...SERVICES, 'operator', 'admin'])
    vi.stubEnv(`NATS_${user.toUpperCase()}_PASSWORD`, passwordOf(user))
})
afterEach(() => void vi.unstubAllEnvs())

/** Starts a server with the published users. */
async function startServer(config = USERS_CONF): Promise<NatsServer & { readonly folder: string }> {
  const folder = createTemporaryFolder()
  const server = await startNatsServer({ folder, config })
  onTestFinished(() => server.stop('SIGKILL'))
  return Object.assign(server, { folder })
}

/** Starts a node of each of these services. Each logs in as its own user, or as the given one. */
function startNodes(
  server: NatsServer,
  services: readonly string[],
  login = (name: string) => name,
  more: readonly string[] = [],
): SpawnedStart {
  const settings = services.flatMap((name) => [
    `--${name}.cluster`,
    `nats://${login(name)}:${passwordOf(login(name))}@127.0.0.1:${server.port}`,
    `--${name}.nats-replicas`,
    '1',
    `--${name}.snapshot-interval-entries`,
    '3',
  ])
  const common = ['--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn']
  if (services.includes('prices')) common.push('--prices.sample', 'no')
  return spawnStart([...services, ...common, ...settings, ...more], {}, { script: START_SCRIPT })
}

async function putEntry({ url }: ReadyRow, id: string): Promise<void> {
  const { status } = await fetch(`${url}/v0/entity?id=${id}`, { method: 'PUT', body: id })
  expect(status).toBe(201)
}

/** Connects as a user. */
async function connectAs(server: NatsServer, user: string) {
  const nc = await connect({ servers: server.url, user, pass: passwordOf(user) })
  onTestFinished(() => nc.close())
  return nc
}

test('each service has the rights that it needs for its log and its snapshots', async () => {
  const server = await startServer()
  const first = startNodes(server, SERVICES)
  const rows = await first.waitUntilReady()
  for (let i = 0; i < 8; i++) {
    await putEntry(rows.kv!, `entry-${i}`)
    expect((await fetch(`${rows.sse!.url}/put?v=${i}&topic=t`)).ok).toBe(true)
    const videos = { method: 'PUT', headers: JSON_TYPE, body: '{"videos":["-4lB5EKS5Uk"]}' }
    expect((await fetch(`${rows.stats!.url}/collections/c${i}`, videos)).status).toBe(201)
    const price = { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify({ ...PRICE, value: i }) }
    const id = `99757a95-f758-499f-a170-bea93b2d8bc${i}`
    expect((await fetch(`${rows.prices!.url}/prices/${id}`, price)).ok).toBe(true)
  }
  const jsm = await jetstreamManager(await connectAs(server, 'operator'))
  for (const name of SERVICES) {
    await waitUntil(async () => {
      const { state } = await jsm.streams.info(`OBJ_${name}-snapshots`).catch(() => ({ state: { messages: 0 } }))
      return state.messages > 0
    })
  }
  // New nodes load the snapshots.
  const second = startNodes(server, SERVICES)
  const others = await second.waitUntilReady()
  expect(await (await fetch(`${others.kv!.url}/v0/entity?id=entry-7&linearizable=true`)).text()).toBe('entry-7')
  expect((await fetch(`${others.stats!.url}/collections/c7`)).status).toBe(200)
  await Promise.all([first.stop(), second.stop()])
  expect(server.log()).not.toMatch(/violation/i)
})

test('no service can delete a stream, or write to or read that of another', async () => {
  const server = await startServer()
  const nodes = startNodes(server, ['kv', 'prices'])
  await putEntry((await nodes.waitUntilReady()).kv!, 'a')
  const nc = await connectAs(server, 'kv')
  const jsm = await jetstreamManager(nc)
  for (const attempt of [
    () => jsm.streams.delete('kv'),
    () => jsm.streams.update('kv', { max_msgs: 1 }),
    () => jsm.streams.delete('prices'),
    () => jsm.streams.purge('prices'),
    () => jsm.streams.info('prices'),
    () => nc.request('log.prices', 'hello'),
  ])
    await expect(attempt()).rejects.toThrow(/permissions violation/i)
  // The system account sees the servers, and no stream.
  const admin = await connectAs(server, 'admin')
  expect((await admin.request('$SYS.REQ.SERVER.PING.JSZ', '{}')).json()).toMatchObject({
    data: { streams: expect.any(Number) },
  })
  await expect(jetstreamManager(admin)).rejects.toThrow()
  await nodes.stop()
})

test('the command in the file gives the rights for a cluster with a name, and for no other', async () => {
  const [, command] = /^#   (sed .*)$/m.exec(USERS_CONF)!
  const folder = createTemporaryFolder()
  writeFileSync(join(folder, 'users.conf'), USERS_CONF)
  execFileSync('sh', ['-c', command!], { cwd: folder })
  const server = await startServer(readFileSync(join(folder, 'users.conf'), 'utf8'))
  const named = ['--cluster-name', 'staging']
  const nodes = startNodes(server, SERVICES, undefined, named)
  const { kv } = await nodes.waitUntilReady()
  for (let i = 0; i < 8; i++) await putEntry(kv!, `entry-${i}`)
  const jsm = await jetstreamManager(await connectAs(server, 'operator'))
  for (const name of SERVICES)
    expect((await jsm.streams.info(`staging-${name}`)).config.metadata).toMatchObject({
      'influencer-stats.cluster': 'staging',
    })
  await waitUntil(() => jsm.streams.info('OBJ_staging-kv-snapshots').catch(() => false))
  // A new node loads the snapshot.
  const second = startNodes(server, ['kv'], undefined, named)
  const { url } = (await second.waitUntilReady()).kv!
  expect(await (await fetch(`${url}/v0/entity?id=entry-7&linearizable=true`)).text()).toBe('entry-7')
  await Promise.all([nodes.stop(), second.stop()])
  expect(server.log()).not.toMatch(/violation/i)
  const other = await jetstreamManager(await connectAs(server, 'kv'))
  await expect(other.streams.info('kv')).rejects.toThrow(/permissions violation/i)
})

test('credentials are rotated without a refused write', async () => {
  const server = await startServer()
  const file = join(server.folder, 'nats.conf')
  const reload = (config: string) => {
    writeFileSync(file, config)
    process.kill(server.pid, 'SIGHUP')
    return waitUntil(() => /Reloaded server configuration/.test(server.log().slice(logged)))
  }
  const before = readFileSync(file, 'utf8')
  const [one, two] = [startNodes(server, ['kv']), startNodes(server, ['kv'])]
  const [first, second] = [(await one.waitUntilReady()).kv!, (await two.waitUntilReady()).kv!]
  await putEntry(first, 'a')

  // A second user, nodes with it one by one, and the first user removed.
  vi.stubEnv('NATS_KV2_PASSWORD', passwordOf('kv2'))
  let logged = server.log().length
  const user = '{ user: kv, password: $NATS_KV_PASSWORD, permissions: $KV }'
  const next = `{ user: kv2, password: ${passwordOf('kv2')}, permissions: $KV }`
  expect(before).toContain(user)
  await reload(before.replace(user, `${user}\n${next}`))
  await putEntry(first, 'b')
  const three = startNodes(server, ['kv'], () => 'kv2')
  const third = (await three.waitUntilReady()).kv!
  await one.stop()
  await putEntry(second, 'c')
  await two.stop()
  await putEntry(third, 'd')
  logged = server.log().length
  await reload(before.replace(user, next))
  await putEntry(third, 'e')
  await expect(connect({ servers: server.url, user: 'kv', pass: passwordOf('kv') })).rejects.toThrow(/authorization/i)
  for (const id of 'abcde')
    expect(await (await fetch(`${third.url}/v0/entity?id=${id}&linearizable=true`)).text()).toBe(id)
  await three.stop()
})

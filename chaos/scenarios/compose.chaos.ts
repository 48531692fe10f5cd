import { findNatsServer } from '@influencer-stats/log/find-nats-server'
import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { isAlive, waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'

// deploy/compose.cluster.yaml without containers: its commands, environment and configuration, on three loopback
// addresses instead of three machines. Linux has all these addresses.

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TOKEN = 'token-of-the-cluster'
const NODES = ['A', 'B', 'C'] as const
const PORTS = { stats: 8080, sse: 8083, kv: 8082, prices: 8084 }
const SERVICES = Object.keys(PORTS) as (keyof typeof PORTS)[]

interface Compose {
  readonly services: Record<string, { command: string[]; environment: Record<string, string> }>
  readonly configs: { nats: { content: string }; 'nats-users': { file: string } }
}

/** Substitutes variables as compose does. @throws Error if one is missing */
function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const value = variables[name] ?? otherwise
    if (value === undefined) throw new Error(`${name} is not set`)
    return value
  })
}

const running = new Set<ChildProcess>()

/** Runs a program until it is stopped or the test ends. */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(program, args, {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, ...env },
  })
  running.add(child)
  return child
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  running.delete(child)
  if (hasExited(child)) return
  child.kill(signal)
  await once(child, 'exit')
}

const authorization = `Bearer ${TOKEN}`

it('three machines of the compose file form a cluster, which continues after one fails', async () => {
  onTestFinished(async () => void (await Promise.all([...running].map((child) => end(child, 'SIGTERM')))))
  const nats = await findNatsServer()
  const net = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const addresses = { A: `${net}.1`, B: `${net}.2`, C: `${net}.3` }
  const folder = createTemporaryFolder()
  for (const name of ['api-token', 'youtube-api-key'])
    writeFileSync(join(folder, name), name === 'api-token' ? TOKEN : 'stand-in')
  const standIn = run(process.execPath, [join(ROOT, 'scripts/start.mjs'), 'youtube', '--youtube.host', `${net}.9`], {
    API_TOKEN: TOKEN,
    ALLOWED_HOSTS: `${net}.9`,
  })
  const text = readFileSync(join(ROOT, 'deploy/compose.cluster.yaml'), 'utf8')
  const documented = text.matchAll(/^#   (NATS_\w+)=/gm)
  const passwords = Object.fromEntries(Array.from(documented, ([, name]) => [name!, `p-${name}`]))
  const variables = { ...addresses, ...passwords, YOUTUBE_URI: `http://${net}.9:8081` }

  const machines = NODES.map((name) => {
    const data = join(folder, name)
    const toLocalPath = (one: string) =>
      one.replaceAll(/(?<![\w.])\/data\b/g, data).replaceAll('/run/secrets/', `${folder}/`)
    const compose: Compose = parse(interpolate(text, { ...variables, SELF: addresses[name] }), { merge: true })
    mkdirSync(data)
    const config = join(data, 'nats.conf')
    writeFileSync(config, toLocalPath(compose.configs.nats.content))
    copyFileSync(join(ROOT, 'deploy', compose.configs['nats-users'].file), join(data, 'users.conf'))
    const serve = (service: string): ChildProcess => {
      const { command, environment } = compose.services[service]!
      const env = Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [key, toLocalPath(String(value))]),
      )
      return run(
        process.execPath,
        [join(ROOT, 'scripts/start.mjs'), ...command.map(toLocalPath), '--log-level', 'warn'],
        env,
      )
    }
    return {
      name,
      address: addresses[name],
      compose,
      server: run(nats, ['-c', config], compose.services.nats!.environment),
      serve,
      nodes: [] as ChildProcess[],
    }
  })
  const send = (service: keyof typeof PORTS, name: (typeof NODES)[number], path: string, init: RequestInit = {}) =>
    fetch(`http://${addresses[name]}:${PORTS[service]}${path}`, {
      ...init,
      headers: { authorization, ...init.headers },
    })

  for (const service of SERVICES) for (const machine of machines) machine.nodes.push(machine.serve(service))
  // The health check of the image, with the environment from the file.
  for (const { compose } of machines)
    for (const service of SERVICES)
      await waitUntil(async () => {
        const { HEALTH_URL } = compose.services[service]!.environment
        const check = run(process.execPath, [join(ROOT, 'scripts/health.ts')], { HEALTH_URL })
        const [code] = await once(check, 'exit')
        running.delete(check)
        return code === 0
      }, 240_000)

  const body = JSON.stringify({ videos: ['-4lB5EKS5Uk'] })
  const json = { 'content-type': 'application/json' }
  expect((await send('stats', 'A', '/collections/c', { method: 'PUT', body, headers: json })).status).toBe(201)
  await waitUntil(async () => (await send('stats', 'C', '/collections/c/stats')).status === 200)
  expect(await (await send('stats', 'C', '/collections/c/stats')).json()).toMatchObject({ videos: 1 })
  const stream = await send('sse', 'B', '/wait?cid=a&topic=t')
  expect((await send('sse', 'C', '/put?v=hello&topic=t', { method: 'POST' })).status).toBe(200)
  let received = ''
  for await (const piece of stream.body!) {
    received += Buffer.from(piece).toString()
    if (received.includes('data: hello')) break
  }
  const put = (name: (typeof NODES)[number], value: string) =>
    send('kv', name, '/v0/entity?id=a', { method: 'PUT', body: value })
  const get = async (name: (typeof NODES)[number]) =>
    (await send('kv', name, '/v0/entity?id=a&linearizable=true')).text()
  expect((await put('A', 'one')).ok).toBe(true)
  expect([await get('A'), await get('B'), await get('C')]).toEqual(['one', 'one', 'one'])

  const price = { offeringId: 'o', groupId: 'g', priceSpecId: 's', charValues: [], value: 9.5 }
  const path = '/prices/99757a95-f758-499f-a170-bea93b2d8bcf'
  expect((await send('prices', 'A', path, { method: 'PUT', body: JSON.stringify(price), headers: json })).ok).toBe(true)
  expect(await (await send('prices', 'C', `${path}?linearizable=true`)).json()).toMatchObject(price)

  // One machine fails at once, with its server.
  const [, stoppedMachine] = machines
  await Promise.all([stoppedMachine!.server, ...stoppedMachine!.nodes].map((child) => end(child, 'SIGKILL')))
  await waitUntil(async () => (await put('A', 'two')).ok)
  expect([await get('A'), await get('C')]).toEqual(['two', 'two'])
  expect(isAlive(standIn.pid!)).toBe(true)
})

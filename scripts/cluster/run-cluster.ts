import { startNatsCluster, type NatsServer } from '@influencer-stats/log/nats-server'
import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { formatTable } from '@influencer-stats/runtime/text-table'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

// `pnpm cluster`: starts three NATS servers, three nodes of each clustered service, and a dashboard for them. All run
// on this machine on free ports until a signal. The data are in ./data/cluster. Every node gets the remaining
// arguments: `pnpm cluster -- --threads 2`. A process that is killed is started again, on the same port.

const START = fileURLToPath(new URL('../start.mjs', import.meta.url))
const NODE_COUNT = 3
const RESTART_DELAY_MS = 1_000
const SERVICES = ['kv', 'sse', 'stats', 'prices']

/** The services that one supervisor has started, such as the node of each service with the same number. */
interface ClusterNode {
  readonly name: string
  child: ChildProcess
  /** Rows of its ready table, by service. */
  readonly running: ReadonlyMap<string, { readonly url: string; readonly pid: string }>
}

const { values, positionals } = parseArgs({
  options: { data: { type: 'string', default: './data/cluster' } },
  allowPositionals: true,
})
const data = resolve(values.data)
const stopping = Promise.withResolvers<void>()
let isStopping = false
void stopping.promise.then(() => (isStopping = true))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.resolve())

/**
 * Starts services in one supervisor, with free ports and a data folder of this name. Resolves when all are ready.
 * @throws Error if the supervisor ends before that; the reason is on stderr
 */
async function launchNode(
  name: string,
  services: readonly string[],
  options: readonly string[],
  settings: NodeJS.ProcessEnv = {},
): Promise<ClusterNode & { readonly ended: Promise<void> }> {
  const args = [START, ...services, '--port', '0', '--data', resolve(data, name), ...options]
  // A separate process group: after Ctrl+C this script stops the nodes in order.
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, ...settings },
  })
  let output = ''
  const ended = once(child, 'close').then(() => undefined)
  const ready = new Promise<ClusterNode['running']>((found) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < 65_536) output += text
      const rows = services.flatMap((service) => {
        const row = new RegExp(`^${service} +(https?:\\S+) +(\\d+) +\\d+$`, 'm').exec(output)
        return row ? [[service, { url: row[1]!, pid: row[2]! }] as const] : []
      })
      if (rows.length === services.length) found(new Map(rows))
    })
  })
  const running = await Promise.race([ready, ended])
  if (!running) throw new Error(`${name} did not start`)
  return { name, child, running, ended }
}

/** Starts a node, and starts it again whenever it ends before the cluster is stopped. */
async function startNode(...start: Parameters<typeof launchNode>): Promise<ClusterNode> {
  const { ended, ...node } = await launchNode(...start)
  void ended.then(() => restartNode(node, start))
  return node
}

/** Starts a node that ended, on its former ports: other processes have their addresses. */
async function restartNode(node: ClusterNode, start: Parameters<typeof launchNode>): Promise<void> {
  const [name, services, options, settings] = start
  const ports = [...node.running].flatMap(([service, { url }]) => [`--${service}.port`, new URL(url).port])
  while (!isStopping) {
    report(`${name} ended (${node.child.signalCode ?? node.child.exitCode}): restarting it`)
    // Its services end a moment later than their supervisor.
    await delay(RESTART_DELAY_MS)
    if (isStopping) return
    try {
      const { child, ended } = await launchNode(name, services, [...options, ...ports], settings)
      node.child = child
      report(`${name} runs again`)
      await ended
    } catch (error) {
      report((error as Error).message)
    }
  }
}

/** Starts a NATS server again that ended. */
async function restartServer(server: NatsServer, name: string): Promise<void> {
  report(`${name} ended: restarting it`)
  try {
    await server.restart()
    report(`${name} runs again as process ${server.pid}`)
  } catch (error) {
    report((error as Error).message)
  }
}

/** Restarts NATS servers that ended, until the cluster stops. */
async function watchServers(): Promise<void> {
  while (!isStopping) {
    await Promise.race([delay(RESTART_DELAY_MS), stopping.promise])
    for (const [i, server] of servers.entries())
      if (!isStopping && !isRunning(server.pid)) await restartServer(server, `server-${i + 1}`)
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const report = (text: string) => void process.stderr.write(`cluster: ${text}\n`)

async function stopNode({ child }: ClusterNode): Promise<void> {
  if (hasExited(child)) return
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
}

const servers: NatsServer[] = []
const nodes: ClusterNode[] = []
let page: ClusterNode | undefined
try {
  servers.push(...(await startNatsCluster({ folder: data, size: NODE_COUNT })))
  const urls = servers.map(({ url }) => url).join(',')
  // One stand-in for all nodes, so that its invented numbers are the same for each.
  const standIn = process.env.YOUTUBE_URI ? undefined : await startNode('stand-in', ['youtube'], [])
  if (standIn) nodes.push(standIn)
  const settings = standIn && { YOUTUBE_URI: standIn.running.get('youtube')!.url }
  const options = ['--cluster', urls, ...positionals]
  for (let i = 1; i <= NODE_COUNT; i++) nodes.push(await startNode(`node-${i}`, SERVICES, options, settings))
  const urlOf = (service: string, node: number) => nodes.at(node - 1 - NODE_COUNT)!.running.get(service)!.url
  const addresses = SERVICES.map((service) => [
    `${service.toUpperCase()}_URI`,
    Array.from({ length: NODE_COUNT }, (_, i) => urlOf(service, i + 1)).join(','),
  ])
  page = await startNode('dashboard', ['dashboard'], [], Object.fromEntries(addresses))
  const rows = [
    ['what', 'URL', 'pid'],
    ...servers.map(({ url, pid }, i) => [`server-${i + 1}`, url, String(pid)]),
    ...['youtube', ...SERVICES].flatMap((service) =>
      nodes.flatMap(({ name, running }) => {
        const row = running.get(service)
        return row ? [[`${service} ${name}`, row.url, row.pid]] : []
      }),
    ),
    ['dashboard', page.running.get('dashboard')!.url, page.running.get('dashboard')!.pid],
  ]
  process.stdout.write(
    `\n${formatTable(rows).join('\n')}\n\nTry it:\n` +
      `  curl -i -XPUT '${urlOf('kv', 1)}/v0/entity?id=greeting' -H 'content-type: text/plain' -d hello\n` +
      `  curl '${urlOf('kv', 3)}/v0/entity?id=greeting&linearizable=true'\n` +
      `  curl -N '${urlOf('sse', 1)}/wait?last=1' & sleep 1; curl '${urlOf('sse', 3)}/put?v=hello'\n` +
      `  curl -XPUT '${urlOf('stats', 1)}/collections/spring' -H 'content-type: application/json' -d '{"videos":["-4lB5EKS5Uk"]}'\n` +
      `  curl '${urlOf('stats', 3)}/collections/spring/stats'\n` +
      `  curl '${urlOf('stats', 3)}/node'\n` +
      `  curl -XPUT '${urlOf('prices', 1)}/prices/99757a95-f758-499f-a170-bea93b2d8bcf' -H 'content-type: application/json' -d '{"offeringId":"o1","groupId":"g1","priceSpecId":"MRC","charValues":[],"value":9.5}'\n` +
      `  curl '${urlOf('prices', 3)}/facets?linearizable=true'\n` +
      `  open ${page.running.get('dashboard')!.url}/health in a browser\n\n`,
  )
  await watchServers()
} catch (error) {
  report((error as Error).message)
  process.exitCode = 1
} finally {
  isStopping = true
  if (page) await stopNode(page)
  // The nodes stop first, because their pending requests need the servers.
  await Promise.all(nodes.map(stopNode))
  await Promise.all(servers.map((server) => server.stop()))
}

import { startNatsServer } from '@influencer-stats/log/nats-server'
import { START_SCRIPT, spawnStart, type ReadyRow } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { hasPrometheus, startPrometheus } from './support/prometheus.ts'

const SERVICES = ['kv', 'stats'] as const
type NodeRows = Record<(typeof SERVICES)[number], ReadyRow>

/** Starts the dashboard for these nodes. @returns the states of the nodes on Health, and a function that stops it */
async function startDashboard(nodes: readonly NodeRows[]) {
  const urls = (name: keyof NodeRows) => nodes.map((node) => node[name].url).join(',')
  const env = { KV_URI: urls('kv'), STATS_URI: urls('stats') }
  const args = ['dashboard', '--port', '0', '--data', createTemporaryFolder(), '--log-level', 'error']
  const started = spawnStart(args, env, { script: START_SCRIPT })
  const { url } = (await started.waitUntilReady()).dashboard!
  const states = async () => {
    const { nodes: names } = (await (await fetch(`${url}/session`)).json()) as { nodes: string[] }
    // Without sse, whose default address may be another process of this machine.
    const own = names.filter((name) => SERVICES.some((service) => name.startsWith(service)))
    const found = own.map(async (name) => [name, (await fetch(`${url}/api/${name}/readyz`)).status] as const)
    return Object.fromEntries(await Promise.all(found)) as Record<string, number>
  }
  return { states, stop: () => started.stop() }
}

test.skipIf(!hasPrometheus)(
  'a node is replaced for good: a new one has all data, and nothing shows the old one any more',
  async () => {
    const server = await startNatsServer({ folder: createTemporaryFolder() })
    onTestFinished(() => server.stop('SIGKILL'))
    const start = async () => {
      const cluster = ['--cluster', server.url, '--nats-replicas', '1', '--snapshot-interval-entries', '5']
      const common = ['--port', '0', '--data', createTemporaryFolder(), '--log-level', 'error']
      const started = spawnStart([...SERVICES, ...common, ...cluster], {}, { script: START_SCRIPT })
      return { ...((await started.waitUntilReady()) as NodeRows), stop: started.stop }
    }
    const [first, second] = [await start(), await start()]
    const targetsOf = (...nodes: NodeRows[]) =>
      Object.fromEntries(SERVICES.map((name) => [name, nodes.map((node) => new URL(node[name].url).host)]))
    const prometheus = await startPrometheus(targetsOf(first, second))
    const before = await startDashboard([first, second])
    expect(await before.states()).toEqual({ 'kv.1': 200, 'kv.2': 200, 'stats.1': 200, 'stats.2': 200 })

    const acknowledged: string[] = []
    const ending = new AbortController()
    const writing = (async () => {
      for (let i = 0; !ending.signal.aborted; i++) {
        const { status } = await fetch(`${second.kv.url}/v0/entity?id=entry-${i}`, { method: 'PUT', body: 'a' })
        expect(status).toBe(201)
        acknowledged.push(`entry-${i}`)
        await delay(10)
      }
    })()
    await waitUntil(() => acknowledged.length > 50)
    await first.stop('SIGKILL')
    await waitUntil(async () => (await prometheus.findAlerts('ServiceDown')).length === SERVICES.length)
    expect(Object.values(await before.states()).filter((status) => status === 200)).toHaveLength(2)

    // The steps of docs/deploy.md.
    const third = await start()
    await before.stop()
    const after = await startDashboard([third, second])
    prometheus.reload(targetsOf(third, second))
    await waitUntil(async () => (await prometheus.query('up == 1')).length === 2 * SERVICES.length)
    await waitUntil(async () => (await prometheus.findAlerts('ServiceDown')).length === 0)
    // A late reply counts as 0 until the next one.
    await waitUntil(async () => (await prometheus.query('up == 0')).length === 0)
    expect(await after.states()).toEqual({ 'kv.1': 200, 'kv.2': 200, 'stats.1': 200, 'stats.2': 200 })
    // The new node polls once the lease of the old one ends.
    const pollers = 'sum(stats_poller_leader)'
    await waitUntil(async () => (await prometheus.query(pollers))[0] === '1')

    ending.abort()
    await writing
    const read = (id: string) => fetch(`${third.kv.url}/v0/entity?id=${id}&linearizable=true`)
    for (const id of acknowledged) expect((await read(id)).status).toBe(200)
    for (const { stop } of [after, second, third]) expect((await stop()).code).toBe(0)
  },
)

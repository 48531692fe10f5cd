import { startNatsCluster, type NatsServer } from '@influencer-stats/log/nats-server'
import { join } from 'node:path'
import { createSpec, type Spec } from '../spec.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { getBackgroundProcess } from './background-processes.ts'
import { combineProcesses, type BenchTarget, type TargetProcess } from './target.ts'
import { createServiceTarget } from './service.ts'

/** Three nodes of kv and three servers of NATS, on this machine and all its processors. */
export interface KvCluster {
  readonly servers: readonly NatsServer[]
  readonly nodes: readonly TargetProcess[]
  /** Starts a node. Its data folder has its name, so a node that starts again finds its data. */
  startNode(name: string): Promise<TargetProcess>
  stop(): Promise<void>
}

const CLUSTER_SIZE = 3

/**
 * Starts a cluster.
 * @param settings settings of every node
 * @param size number of nodes; there are always three servers
 */
export async function startCluster(
  settings: Readonly<Record<string, string>> = {},
  size = CLUSTER_SIZE,
): Promise<KvCluster> {
  const { path: folder, remove } = createTemporaryFolder()
  const servers: NatsServer[] = []
  const nodes: TargetProcess[] = []

  function startNode(name: string): Promise<TargetProcess> {
    const all = { ...toLogSettings(servers), data: join(folder, name), ...settings }
    return createServiceTarget(createSpec('kv'), all, { pin: [] }).start()
  }
  async function stop(): Promise<void> {
    // The nodes stop first, because their pending requests need the servers.
    await Promise.all(nodes.map((node) => node.stop()))
    await Promise.all(servers.map((server) => server.stop()))
    remove()
  }

  try {
    servers.push(...(await startNatsCluster({ folder, size: CLUSTER_SIZE })))
    while (nodes.length < size) nodes.push(await startNode(`node-${nodes.length + 1}`))
  } catch (error) {
    await stop()
    throw error
  }
  return { servers, nodes, startNode, stop }
}

const toLogSettings = (servers: readonly NatsServer[]) => ({ cluster: servers.map(({ url }) => url).join(',') })

const startOtherNodes = () => startCluster({}, CLUSTER_SIZE - 1)

/** Returns the two nodes other than the measured one, combined into one target. */
export async function getOtherNodes(): Promise<TargetProcess> {
  const { nodes, stop } = await getBackgroundProcess(startOtherNodes)
  return combineProcesses(nodes, stop)
}

/** Creates the target of one node of three. The other two nodes and the servers run in the background. */
export const createNodeTarget = (spec: Spec): BenchTarget =>
  createServiceTarget(
    spec,
    {},
    { getSettings: async () => toLogSettings((await getBackgroundProcess(startOtherNodes)).servers) },
  )

export const clusterTarget: BenchTarget = {
  name: 'kv, three nodes',
  async start() {
    const { servers, nodes, stop } = await startCluster()
    return { ...combineProcesses(nodes, stop), below: servers.map((server) => server.pid) }
  },
}

/** Three servers of NATS without nodes. */
export const natsTarget: BenchTarget = {
  name: 'NATS KV, three servers',
  async start() {
    const { path: folder, remove } = createTemporaryFolder()
    const servers = await startNatsCluster({ folder, size: CLUSTER_SIZE })
    return combineProcesses(servers, async () => {
      await Promise.all(servers.map((server) => server.stop()))
      remove()
    })
  },
}

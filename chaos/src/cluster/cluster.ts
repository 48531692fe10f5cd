import { startNatsCluster, type NatsServer } from '@influencer-stats/log/nats-server'
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { join } from 'node:path'
import { run, type ServiceProcess } from '../service-process.ts'
import type { ClusterNetwork } from './cluster-network.ts'

/** Three servers of NATS and three nodes of a service. */
export interface ChaosCluster {
  readonly servers: readonly NatsServer[]
  readonly nodes: readonly ServiceProcess[]
  /** Kills a node, and starts an empty node at the same address. */
  replace(index: number): Promise<void>
  /** Returns the current leader of the log's stream. */
  findLeader(): Promise<NatsServer>
  /** Returns the first stream sequence that the log still contains. */
  getFirstSequence(): Promise<number>
  stop(): Promise<void>
}

const CLUSTER_SIZE = 3

export interface ChaosClusterOptions {
  /** Network between all members; without it, they connect directly. */
  readonly network?: ClusterNetwork
  /** Returns additional environment variables of a node. */
  env?(node: number): Readonly<Record<string, string>>
}

/**
 * Starts a cluster. In `folder`, the servers have the folders `server-1` to `server-3`. Each started node has a new
 * folder: `node-1`, `node-2`, and so on.
 * @param settings settings of every node
 */
export async function startCluster(
  folder: string,
  settings: Readonly<Record<string, string | number>>,
  service = 'kv',
  { network, env = () => ({}) }: ChaosClusterOptions = {},
): Promise<ChaosCluster> {
  const route =
    network && ((from: number, to: number, url: string) => network.link(`server ${from}`, `server ${to}`, url))
  const servers = await startNatsCluster({ folder, size: CLUSTER_SIZE, ...(route && { route }) })
  const urls = servers.map(({ url }) => url)
  const getUrls = async (node: number) =>
    network ? Promise.all(urls.map((url, i) => network.link(`node ${node}`, `server ${i}`, url))) : urls
  const nodes: ServiceProcess[] = []

  async function stop(): Promise<void> {
    for (const node of nodes) await node.stop()
    for (const server of servers) await server.stop('SIGKILL')
    await network?.close()
  }

  /** Reads the state of the log's stream. Waits until a server responds. */
  async function readStreamInfo<T>(read: (info: StreamInfo) => T) {
    const nc = await connect({ servers: urls })
    try {
      const jsm = await jetstreamManager(nc, { checkAPI: false })
      // During an election no server responds.
      return await waitUntil(() => jsm.streams.info(service).then(read, () => undefined))
    } finally {
      await nc.close()
    }
  }

  /** Number of nodes that were started. */
  let startCount = 0
  const start = async (node: number, port: number) =>
    run(service, join(folder, `node-${++startCount}`), {
      settings: { port, cluster: (await getUrls(node)).join(), natsStream: service, ...settings },
      env: env(node),
    })

  try {
    for (let i = 0; i < CLUSTER_SIZE; i++) nodes.push(await start(i, 0))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    servers,
    nodes,
    async replace(index) {
      const { url } = nodes[index]!
      await nodes[index]!.crash()
      nodes[index] = await start(index, Number(new URL(url).port))
    },
    async findLeader() {
      const name = await readStreamInfo(({ cluster }) => cluster?.leader)
      return servers[Number(name.replace('server-', '')) - 1]!
    },
    getFirstSequence: () => readStreamInfo(({ state }) => state.first_seq),
    stop,
  }
}

import { startNatsCluster, type NatsServer } from '@influencer-stats/log/nats-server'
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { until } from '@influencer-stats/runtime/testing/until'
import { join } from 'node:path'
import { run, type Running } from '../running.ts'
import type { ClusterNetwork } from './network.ts'

/** Three servers of NATS and three nodes of a service. */
export interface Cluster {
  readonly servers: readonly NatsServer[]
  readonly nodes: readonly Running[]
  /** Ends a node at once, and starts one that has nothing in its place, at the same address. */
  replace(index: number): Promise<void>
  /** The server that leads the stream at present. */
  leader(): Promise<NatsServer>
  /** Where the log begins: behind what was trimmed. */
  begin(): Promise<number>
  stop(): Promise<void>
}

const SIZE = 3

export interface ClusterOptions {
  /** By which all reach the servers. */
  readonly network?: ClusterNetwork
  /** Of the environment of a node. */
  env?(node: number): Readonly<Record<string, string>>
}

/** Servers are below `server-1` to `server-3` of the folder, nodes below `node-1` and so on. @param settings of every node */
export async function startCluster(
  folder: string,
  settings: Readonly<Record<string, string | number>>,
  service = 'kv',
  { network, env = () => ({}) }: ClusterOptions = {},
): Promise<Cluster> {
  const route =
    network && ((from: number, to: number, url: string) => network.link(`server ${from}`, `server ${to}`, url))
  const servers = await startNatsCluster({ folder, size: SIZE, ...(route && { route }) })
  const urls = servers.map(({ url }) => url)
  const urlsOf = async (node: number) =>
    network ? Promise.all(urls.map((url, i) => network.link(`node ${node}`, `server ${i}`, url))) : urls
  const nodes: Running[] = []

  async function stop(): Promise<void> {
    for (const node of nodes) await node.stop()
    for (const server of servers) await server.stop('SIGKILL')
    await network?.close()
  }

  /** What is told of the stream, once anybody tells. */
  async function told<T>(read: (info: StreamInfo) => T) {
    const nc = await connect({ servers: urls })
    try {
      const jsm = await jetstreamManager(nc, { checkAPI: false })
      // While a leader is chosen nobody answers.
      return await until(() => jsm.streams.info(service).then(read, () => undefined))
    } finally {
      await nc.close()
    }
  }

  let lives = 0
  const start = async (node: number, port: number) =>
    run(service, join(folder, `node-${++lives}`), {
      settings: { port, log: 'jetstream', natsUrl: (await urlsOf(node)).join(), natsStream: service, ...settings },
      env: env(node),
    })

  try {
    for (let i = 0; i < SIZE; i++) nodes.push(await start(i, 0))
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
    async leader() {
      const name = await told(({ cluster }) => cluster?.leader)
      return servers[Number(name.replace('server-', '')) - 1]!
    },
    begin: () => told(({ state }) => state.first_seq),
    stop,
  }
}

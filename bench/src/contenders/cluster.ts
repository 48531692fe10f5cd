import { startNatsCluster, type NatsServer } from '@influencer-stats/log/nats-server'
import { join } from 'node:path'
import { specOf, type Spec } from '../spec.ts'
import { temporaryFolder } from '../temporary.ts'
import { beside } from './beside.ts'
import { asOne, pidsOf, type Contender, type Running } from './contender.ts'
import { serviceContender } from './service.ts'

/** Three nodes of kv on three servers of NATS, on this machine; which of its processors they use is theirs. */
export interface Cluster {
  readonly servers: readonly NatsServer[]
  readonly nodes: readonly Running[]
  /** One more, or one that was stopped: what it had under that name it finds again. */
  startNode(name: string): Promise<Running>
  stop(): Promise<void>
}

const SIZE = 3

/** @param settings of every node @param size how many nodes; servers are three */
export async function startCluster(settings: Readonly<Record<string, string>> = {}, size = SIZE): Promise<Cluster> {
  const { path: folder, remove } = temporaryFolder()
  const servers: NatsServer[] = []
  const nodes: Running[] = []

  function startNode(name: string): Promise<Running> {
    const all = { ...sharing(servers), data: join(folder, name), ...settings }
    return serviceContender(specOf('kv'), all, { pin: [] }).start()
  }
  async function stop(): Promise<void> {
    // The nodes first: what they have in flight needs the servers.
    await Promise.all(nodes.map((node) => node.stop()))
    await Promise.all(servers.map((server) => server.stop()))
    remove()
  }

  try {
    servers.push(...(await startNatsCluster({ folder, size: SIZE })))
    while (nodes.length < size) nodes.push(await startNode(`node-${nodes.length + 1}`))
  } catch (error) {
    await stop()
    throw error
  }
  return { servers, nodes, startNode, stop }
}

const sharing = (servers: readonly NatsServer[]) => ({
  log: 'jetstream',
  natsUrl: servers.map(({ url }) => url).join(','),
})

const startOthers = () => startCluster({}, SIZE - 1)

/** The other nodes of a node that is looked at, as one. */
export async function otherNodes(): Promise<Running> {
  const { nodes, stop } = await beside(startOthers)
  return asOne(nodes, stop)
}

/** One node of three; the others and their servers run beside it. */
export const nodeContender = (spec: Spec): Contender =>
  serviceContender(spec, {}, { more: async () => sharing((await beside(startOthers)).servers) })

export const clusterContender: Contender = {
  name: 'kv, three nodes',
  async start() {
    const { servers, nodes, stop } = await startCluster()
    return { ...asOne(nodes, stop), below: pidsOf(servers) }
  },
}

/** The same servers without nodes. */
export const natsContender: Contender = {
  name: 'NATS KV, three servers',
  async start() {
    const { path: folder, remove } = temporaryFolder()
    const servers = await startNatsCluster({ folder, size: SIZE })
    return asOne(servers, async () => {
      await Promise.all(servers.map((server) => server.stop()))
      remove()
    })
  },
}

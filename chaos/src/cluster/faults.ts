import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setTimeout as delay } from 'node:timers/promises'
import { isLong } from '../plan.ts'
import type { SeededRandom } from '../random.ts'
import { isReady } from '../ready.ts'
import type { ChaosCluster } from './cluster.ts'

/** A fault that may happen to a cluster at any time. */
export interface ClusterFault {
  readonly name: string
  /** Causes the fault, and removes it. */
  run(cluster: ChaosCluster, random: SeededRandom): Promise<void>
}

export const faults: readonly ClusterFault[] = [
  {
    name: 'kill -9 of the leader',
    async run(cluster, random) {
      const leader = await cluster.findLeader()
      await leader.stop('SIGKILL')
      await delay(1_000 + random.below(6_000))
      await leader.restart()
    },
  },
  {
    name: 'SIGSTOP of the leader',
    async run(cluster, random) {
      const leader = await cluster.findLeader()
      await leader.suspend()
      await delay(1_000 + random.below(6_000))
      leader.resume()
    },
  },
  {
    name: 'kill -9 of a node',
    async run({ nodes }, random) {
      random.one(nodes).kill()
      await delay(2_000)
    },
  },
  {
    name: 'SIGSTOP of a node',
    async run({ nodes }, random) {
      const { pid } = random.one(nodes)
      if (!pid) return
      process.kill(pid, 'SIGSTOP')
      await delay(500 + random.below(3_000))
      process.kill(pid, 'SIGCONT')
    },
  },
  {
    name: 'kill -9 of the leader and of a node',
    async run(cluster, random) {
      const leader = await cluster.findLeader()
      random.one(cluster.nodes).kill()
      await leader.stop('SIGKILL')
      await delay(1_000 + random.below(6_000))
      await leader.restart()
    },
  },
  {
    name: 'a node is replaced by an empty one',
    async run(cluster, random) {
      await cluster.replace(random.below(cluster.nodes.length))
    },
  },
]

const SHORT_FORM_FAULTS = new Set([
  'SIGSTOP of a node',
  'kill -9 of the leader and of a node',
  'a node is replaced by an empty one',
])

/** Faults of the short form for services other than kv; kv runs all. */
export const someFaults = faults.filter(({ name }) => isLong || SHORT_FORM_FAULTS.has(name))

/** A server without contact to others gives up its leader, and its own leadership, after this time (s). */
export const LEADER_LOSS_S = 11

/** Halts two servers. @param look checks the nodes meanwhile */
export const createQuorumLoss = (look: (cluster: ChaosCluster) => Promise<void>): ClusterFault => ({
  name: 'two servers halt: no quorum',
  run: (cluster, random) => runWithoutQuorum(cluster, random, () => look(cluster)),
})

/**
 * Runs faults one after the other (repeatedly in the long form), each when all nodes are ready.
 * @param calm time before each fault, and after the last (ms)
 * @param begins called before each fault
 */
export async function runFaults(
  all: readonly ClusterFault[],
  cluster: ChaosCluster,
  random: SeededRandom,
  calm: number,
  begins: () => void = () => {},
): Promise<void> {
  for (let round = 0; round < (isLong ? 20 : 1); round++) {
    for (const fault of all) {
      await delay(calm)
      // A starting node needs the log, so the next fault must wait for it.
      for (const { url } of cluster.nodes) await waitUntil(() => isReady(url))
      begins()
      process.stdout.write(`${fault.name}\n`)
      await fault.run(cluster, random)
    }
  }
  await delay(calm)
}

/** Halts two servers while `run` runs, so that there is no majority. */
export async function runWithoutQuorum(
  cluster: ChaosCluster,
  random: SeededRandom,
  run: () => Promise<void>,
): Promise<void> {
  const leader = await cluster.findLeader()
  const halted = [leader, random.one(cluster.servers.filter((server) => server !== leader))]
  await Promise.all(halted.map((server) => server.suspend()))
  try {
    await run()
  } finally {
    for (const server of halted) server.resume()
  }
}

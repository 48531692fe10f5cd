import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setTimeout as delay } from 'node:timers/promises'
import { isLong } from '../plan.ts'
import type { SeededRandom } from '../random.ts'
import { isReady } from '../ready.ts'
import type { ChaosCluster } from './cluster.ts'

/** A fault that a cluster must tolerate at any time. */
export interface ClusterFault {
  readonly name: string
  /** Causes the fault, and ends it after some seconds. */
  run(cluster: ChaosCluster, random: SeededRandom): Promise<void>
}

/** All faults. Tests of kv run all of them, also in the short form. */
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

/** Faults for services other than kv. The short form has only some of them. */
export const nonKvFaults = faults.filter(({ name }) => isLong || SHORT_FORM_FAULTS.has(name))

/** Time after which a NATS server without contact to the others knows no leader, and no longer leads itself (s). */
export const LEADER_LOSS_S = 11

/** Creates the fault that suspends two of three servers. @param check checks the nodes meanwhile */
export const createQuorumLoss = (check: (cluster: ChaosCluster) => Promise<void>): ClusterFault => ({
  name: 'two servers halt: no quorum',
  run: (cluster, random) => runWithoutQuorum(cluster, random, () => check(cluster)),
})

/**
 * Runs faults one after the other; the long form repeats them 20 times. Each fault begins when all nodes are ready.
 * @param calm time without a fault before each fault and after the last one (ms)
 * @param onFaultBegin called before each fault
 */
export async function runFaults(
  all: readonly ClusterFault[],
  cluster: ChaosCluster,
  random: SeededRandom,
  calm: number,
  onFaultBegin: () => void = () => {},
): Promise<void> {
  for (let round = 0; round < (isLong ? 20 : 1); round++) {
    for (const fault of all) {
      await delay(calm)
      // A node that starts needs the log, so the next fault must wait until the node is ready.
      for (const { url } of cluster.nodes) await waitUntil(() => isReady(url))
      onFaultBegin()
      process.stdout.write(`${fault.name}\n`)
      await fault.run(cluster, random)
    }
  }
  await delay(calm)
}

/** Suspends two of three servers while `run` runs, so that there is no majority. One of them is the leader. */
export async function runWithoutQuorum(
  cluster: ChaosCluster,
  random: SeededRandom,
  run: () => Promise<void>,
): Promise<void> {
  const leader = await cluster.findLeader()
  const suspended = [leader, random.one(cluster.servers.filter((server) => server !== leader))]
  await Promise.all(suspended.map((server) => server.suspend()))
  try {
    await run()
  } finally {
    for (const server of suspended) server.resume()
  }
}

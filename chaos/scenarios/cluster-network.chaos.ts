import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { getAge, canRead, getKvRefusal, waitForWrite } from '../src/cluster/probes.ts'
import { startCluster, type ChaosCluster } from '../src/cluster/cluster.ts'
import { LEADER_LOSS_S, runFaults, type ClusterFault } from '../src/cluster/faults.ts'
import { checkUnderClients } from '../src/cluster/check-linearizability.ts'
import { ClusterNetwork, type NetworkMember } from '../src/cluster/cluster-network.ts'
import { createTestRandom, isLong } from '../src/plan.ts'
import { isReady } from '../src/ready.ts'

/** Time between faults for the cluster to recover (ms). */
const RECOVERY_MS = 1_000
const INDEXES = [0, 1, 2]
const SERVERS = INDEXES.map((i): NetworkMember => `server ${i}`)

const random = createTestRandom('network of a cluster')
const network = new ClusterNetwork(random)

const leaderOf = async (cluster: ChaosCluster) => cluster.servers.indexOf(await cluster.findLeader())

/** Checks a node without the majority: it refuses writes, serves reads, and reports their age. */
async function expectCutOff(url: string, age: number): Promise<void> {
  expect(await getKvRefusal(url, 'LOG_UNAVAILABLE')).toMatchObject({ status: 503, retryAfter: '1' })
  expect(await canRead(url)).toBe(true)
  await waitUntil(async () => (await getAge(url)) > age)
}

async function expectWell(urls: readonly string[]): Promise<void> {
  await Promise.all(urls.map(waitForWrite))
  for (const url of urls) await waitUntil(async () => (await getAge(url)) === 0)
}

const faults: readonly ClusterFault[] = [
  {
    name: 'the leader and a node are cut off from the others: the minority refuses, the majority goes on',
    async run(cluster) {
      const leader = await leaderOf(cluster)
      const node = random.below(3)
      const minority: readonly NetworkMember[] = [`server ${leader}`, `node ${node}`]
      const majority = [...SERVERS, ...INDEXES.map((i): NetworkMember => `node ${i}`)].filter(
        (one) => !minority.includes(one),
      )
      await network.cut(minority, majority, random.one(['silent', 'down']))
      const [left, right] = [[cluster.nodes[node]!.url], cluster.nodes.map(({ url }) => url).toSpliced(node, 1)]
      await expectWell(right)
      await expectCutOff(left[0]!, LEADER_LOSS_S)
      await expectWell(right)
    },
  },
  {
    name: 'a node is cut off from all servers',
    async run({ nodes }) {
      const node = random.below(3)
      await network.cut([`node ${node}`], SERVERS, random.one(['silent', 'down', 'one-way']))
      await expectCutOff(nodes[node]!.url, 3)
      await expectWell(nodes.toSpliced(node, 1).map(({ url }) => url))
    },
  },
  {
    name: 'nothing comes from the leader to the other servers, and nodes reach all: they go where most are',
    async run(cluster) {
      const leader = await leaderOf(cluster)
      await network.cut([`server ${leader}`], SERVERS.toSpliced(leader, 1), 'one-way')
      await expectWell(cluster.nodes.map(({ url }) => url))
    },
  },
  {
    name: 'nothing comes to the leader from the other servers',
    async run(cluster) {
      const leader = await leaderOf(cluster)
      await network.cut(SERVERS.toSpliced(leader, 1), [`server ${leader}`], 'one-way')
      await expectWell(cluster.nodes.map(({ url }) => url))
    },
  },
  {
    name: 'the leader and one other do not reach each other, and both the third',
    async run(cluster) {
      const leader = await leaderOf(cluster)
      const other = (leader + 1 + random.below(2)) % 3
      await network.cut([`server ${leader}`], [`server ${other}`], random.one(['silent', 'down', 'one-way']))
      await Promise.all(cluster.nodes.map(({ url }) => waitForWrite(url)))
    },
  },
]

const SHORT_FORM_COUNT = 3

it('a cluster of kv under network cuts: nodes with a majority continue, no acknowledged write is lost, all clients see one order', async () => {
  const cluster = await startCluster(
    createTemporaryFolder(),
    { snapshotIntervalEntries: 500, threads: 2, appendTimeout: 5_000 },
    'kv',
    {
      network,
    },
  )
  onTestFinished(() => cluster.stop())
  const cuts = faults.slice(0, isLong ? faults.length : SHORT_FORM_COUNT).map(({ name, run }) => ({
    name,
    async run() {
      try {
        await run(cluster, random)
      } finally {
        await network.reset()
      }
      // The cluster recovers without help.
      await expectWell(cluster.nodes.map(({ url }) => url))
    },
  }))
  await checkUnderClients(cluster, random, (phase) => runFaults(cuts, cluster, random, RECOVERY_MS, phase))
  for (const { url } of cluster.nodes) expect(await isReady(url)).toBe(true)
})

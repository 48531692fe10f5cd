import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { expect, it, onTestFinished } from 'vitest'
import { ageOf, reads, refusalOf, takesWrites } from '../src/cluster/asks.ts'
import { startCluster, type Cluster } from '../src/cluster/cluster.ts'
import { NO_LEADER_AFTER, runFaults, type Fault } from '../src/cluster/faults.ts'
import { judged } from '../src/cluster/judged.ts'
import { ClusterNetwork, type Member } from '../src/cluster/network.ts'
import { chancesOf, isLong } from '../src/plan.ts'
import { isReady } from '../src/ready.ts'

/** Between faults, for all to be well again (ms). */
const CALM = 1_000
const ALL = [0, 1, 2]
const SERVERS = ALL.map((i): Member => `server ${i}`)

const random = chancesOf('network of a cluster')
const network = new ClusterNetwork(random)

const leaderOf = async (cluster: Cluster) => cluster.servers.indexOf(await cluster.leader())

/** What a node does that cannot reach the majority: it refuses what it cannot do, reads, and says how old that is. */
async function expectCutOff(url: string, age: number): Promise<void> {
  expect(await refusalOf(url, 'LOG_UNAVAILABLE')).toMatchObject({ status: 503, retryAfter: '1' })
  expect(await reads(url)).toBe(true)
  await until(async () => (await ageOf(url)) > age)
}

async function expectWell(urls: readonly string[]): Promise<void> {
  await Promise.all(urls.map(takesWrites))
  for (const url of urls) await until(async () => (await ageOf(url)) === 0)
}

const faults: readonly Fault[] = [
  {
    name: 'the leader and a node are cut off from the others: the minority refuses, the majority goes on',
    async run(cluster) {
      const leader = await leaderOf(cluster)
      const node = random.below(3)
      const few: readonly Member[] = [`server ${leader}`, `node ${node}`]
      const many = [...SERVERS, ...ALL.map((i): Member => `node ${i}`)].filter((one) => !few.includes(one))
      await network.cut(few, many, random.one(['silent', 'down']))
      const [left, right] = [[cluster.nodes[node]!.url], cluster.nodes.map(({ url }) => url).toSpliced(node, 1)]
      await expectWell(right)
      await expectCutOff(left[0]!, NO_LEADER_AFTER)
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
      await Promise.all(cluster.nodes.map(({ url }) => takesWrites(url)))
    },
  },
]

const SHORT = 3

it('a cluster of kv whose network is cut: whoever reaches the majority goes on, nothing acknowledged is lost, all see one order', async () => {
  const cluster = await startCluster(
    temporaryFolder(),
    { snapshotIntervalEntries: 500, threads: 2, appendTimeout: 5_000 },
    'kv',
    {
      network,
    },
  )
  onTestFinished(() => cluster.stop())
  const cuts = faults.slice(0, isLong ? faults.length : SHORT).map(({ name, run }) => ({
    name,
    async run() {
      try {
        await run(cluster, random)
      } finally {
        await network.heal()
      }
      // All of it is well again, by itself.
      await expectWell(cluster.nodes.map(({ url }) => url))
    },
  }))
  await judged(cluster, random, (phase) => runFaults(cuts, cluster, random, CALM, phase))
  for (const { url } of cluster.nodes) expect(await isReady(url)).toBe(true)
})

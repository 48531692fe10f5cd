import { mountSmallDisk } from '@influencer-stats/runtime/testing/small-disk'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ageOf, reads, refusalOf, takesWrites } from '../src/cluster/asks.ts'
import { startCluster } from '../src/cluster/cluster.ts'
import { runFaults, type Fault } from '../src/cluster/faults.ts'
import { judged } from '../src/cluster/judged.ts'
import { chancesOf } from '../src/plan.ts'
import { isReady } from '../src/ready.ts'

/** Between faults, for all to be well again (ms). */
const CALM = 1_000
const SERVER_MEGABYTES = 64
const NODE_MEGABYTES = 16
/** Of a full disk: some of what is written next fits, and so is torn (bytes). */
const LEFT = 9_000
/** A node that is behind for longer says so (s). */
const FRESH = 3

const folder = temporaryFolder()
const disks = [
  ...[1, 2, 3].map((i) => mountSmallDisk(join(folder, `server-${i}`), SERVER_MEGABYTES)),
  ...[1, 2, 3].map((i) => mountSmallDisk(join(folder, `node-${i}`), NODE_MEGABYTES)),
].filter((disk) => disk !== undefined)
const isHere = disks.length === 6
if (!isHere) process.stdout.write('full disks are left out: only root may mount small ones\n')

it.skipIf(!isHere)(
  'a cluster of kv whose disks are full for a while: nothing acknowledged is lost, and all bases are alike',
  async () => {
    onTestFinished(() => disks.forEach(({ unmount }) => unmount()))
    const random = chancesOf('full disks of a cluster')
    const cluster = await startCluster(folder, { snapshotIntervalEntries: 2_000, threads: 2, appendTimeout: 5_000 })
    onTestFinished(() => cluster.stop())
    const { servers, nodes } = cluster
    const urls = nodes.map(({ url }) => url)

    /** A server whose disk was full leaves the log alone until it is started again. */
    async function again(server: number): Promise<void> {
      disks[server]!.free()
      await servers[server]!.stop()
      await servers[server]!.restart()
    }

    const faults: readonly Fault[] = [
      {
        name: 'the disk of a node is full: it reads, and says how old that is; the others go on',
        async run() {
          const node = random.below(3)
          const disk = disks[3 + node]!
          disk.fill(LEFT)
          const { status } = await refusalOf(urls[node]!)
          expect([503, 507]).toContain(status)
          await Promise.all(urls.toSpliced(node, 1).map(takesWrites))
          await until(async () => (await ageOf(urls[node]!)) > FRESH)
          expect(await reads(urls[node]!)).toBe(true)
          disk.free()
          await Promise.all(urls.map(takesWrites))
          await until(async () => (await ageOf(urls[node]!)) === 0)
        },
      },
      {
        name: "the disk of the log's leader is full: the other two go on",
        async run() {
          const leader = servers.indexOf(await cluster.leader())
          disks[leader]!.fill(LEFT)
          await until(async () => servers.indexOf(await cluster.leader()) !== leader)
          await Promise.all(urls.map(takesWrites))
          await again(leader)
        },
      },
      {
        name: 'the disks of two servers are full: no quorum',
        async run() {
          const leader = servers.indexOf(await cluster.leader())
          const full = [leader, (leader + 1 + random.below(2)) % 3]
          for (const server of full) disks[server]!.fill(LEFT)
          for (const refusal of await Promise.all(urls.map((url) => refusalOf(url)))) {
            expect(refusal).toMatchObject({ status: 503, retryAfter: '1' })
          }
          expect(await Promise.all(urls.map(reads))).toEqual([true, true, true])
          for (const server of full) await again(server)
          await Promise.all(urls.map(takesWrites))
        },
      },
    ]
    await judged(cluster, random, (phase) => runFaults(faults, cluster, random, CALM, phase))
    for (const url of urls) await until(() => isReady(url))
  },
)

import { mountSmallDisk } from '@influencer-stats/runtime/testing/small-disk'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { getAge, canRead, getKvRefusal, waitForWrite } from '../src/cluster/probes.ts'
import { startCluster } from '../src/cluster/cluster.ts'
import { runFaults, type ClusterFault } from '../src/cluster/faults.ts'
import { checkUnderClients } from '../src/cluster/check-linearizability.ts'
import { createTestRandom } from '../src/plan.ts'
import { isReady } from '../src/ready.ts'

/** Time between faults for the cluster to recover (ms). */
const RECOVERY_MS = 1_000
const SERVER_MEGABYTES = 64
const NODE_MEGABYTES = 16
/** Free bytes of a full disk: a part of the next write fits, so it is torn. */
const FREE_BYTES = 9_000
/** A node that is behind for longer reports it (s). */
const MAX_AGE_S = 3

const folder = createTemporaryFolder()
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
    const random = createTestRandom('full disks of a cluster')
    const cluster = await startCluster(folder, { snapshotIntervalEntries: 2_000, threads: 2, appendTimeout: 5_000 })
    onTestFinished(() => cluster.stop())
    const { servers, nodes } = cluster
    const urls = nodes.map(({ url }) => url)

    /** A server whose disk was full does not use the log until it restarts. */
    async function again(server: number): Promise<void> {
      disks[server]!.free()
      await servers[server]!.stop()
      await servers[server]!.restart()
    }

    const faults: readonly ClusterFault[] = [
      {
        name: 'the disk of a node is full: it reads, and says how old that is; the others go on',
        async run() {
          const node = random.below(3)
          const disk = disks[3 + node]!
          disk.fill(FREE_BYTES)
          const { status } = await getKvRefusal(urls[node]!)
          expect([503, 507]).toContain(status)
          await Promise.all(urls.toSpliced(node, 1).map(waitForWrite))
          await waitUntil(async () => (await getAge(urls[node]!)) > MAX_AGE_S)
          expect(await canRead(urls[node]!)).toBe(true)
          disk.free()
          await Promise.all(urls.map(waitForWrite))
          await waitUntil(async () => (await getAge(urls[node]!)) === 0)
        },
      },
      {
        name: "the disk of the log's leader is full: the other two go on",
        async run() {
          const leader = servers.indexOf(await cluster.findLeader())
          disks[leader]!.fill(FREE_BYTES)
          await waitUntil(async () => servers.indexOf(await cluster.findLeader()) !== leader)
          await Promise.all(urls.map(waitForWrite))
          await again(leader)
        },
      },
      {
        name: 'the disks of two servers are full: no quorum',
        async run() {
          const leader = servers.indexOf(await cluster.findLeader())
          const full = [leader, (leader + 1 + random.below(2)) % 3]
          for (const server of full) disks[server]!.fill(FREE_BYTES)
          for (const refusal of await Promise.all(urls.map((url) => getKvRefusal(url)))) {
            expect(refusal).toMatchObject({ status: 503, retryAfter: '1' })
          }
          expect(await Promise.all(urls.map(canRead))).toEqual([true, true, true])
          for (const server of full) await again(server)
          await Promise.all(urls.map(waitForWrite))
        },
      },
    ]
    await checkUnderClients(cluster, random, (phase) => runFaults(faults, cluster, random, RECOVERY_MS, phase))
    for (const url of urls) await waitUntil(() => isReady(url))
  },
)

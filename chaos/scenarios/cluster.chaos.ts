import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { getAge, canRead, REFUSED_REPLY, getKvRefusal } from '../src/cluster/probes.ts'
import { startCluster, type ChaosCluster } from '../src/cluster/cluster.ts'
import {
  faults as ofAnyService,
  LEADER_LOSS_S,
  createQuorumLoss,
  runFaults,
  type ClusterFault,
} from '../src/cluster/faults.ts'
import { checkUnderClients } from '../src/cluster/check-linearizability.ts'
import { createTestRandom } from '../src/plan.ts'

/** Time between faults for the cluster to recover (ms). */
const RECOVERY_MS = 2_000
const faults: readonly ClusterFault[] = [...ofAnyService, createQuorumLoss(checkWithoutQuorum)]

/** Without a majority the nodes refuse changes and serve reads. */
async function checkWithoutQuorum({ nodes }: ChaosCluster): Promise<void> {
  const urls = nodes.map(({ url }) => url)
  expect(await Promise.all(urls.map((url) => getKvRefusal(url)))).toEqual([REFUSED_REPLY, REFUSED_REPLY, REFUSED_REPLY])
  expect(await Promise.all(urls.map(canRead))).toEqual([true, true, true])
  // The remaining server still reports the state of the stream: perhaps first as its leader, then without a leader.
  for (const url of urls) await waitUntil(async () => (await getAge(url)) > LEADER_LOSS_S)
}

it('a cluster of kv under kills and halts: no acknowledged write is lost, all clients see one order, and all bases are equal', async () => {
  const random = createTestRandom('cluster')
  const cluster = await startCluster(createTemporaryFolder(), {
    snapshotIntervalEntries: 500,
    threads: 2,
    appendTimeout: 5_000,
  })
  onTestFinished(() => cluster.stop())
  await checkUnderClients(cluster, random, (phase) => runFaults(faults, cluster, random, RECOVERY_MS, phase))
})

import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { expect, it, onTestFinished } from 'vitest'
import { ageOf, reads, REFUSED, refusalOf } from '../src/cluster/asks.ts'
import { startCluster, type Cluster } from '../src/cluster/cluster.ts'
import { faults as ofAnyService, NO_LEADER_AFTER, noQuorum, runFaults, type Fault } from '../src/cluster/faults.ts'
import { judged } from '../src/cluster/judged.ts'
import { chancesOf } from '../src/plan.ts'

/** Between faults, for all to be well again (ms). */
const CALM = 2_000
const faults: readonly Fault[] = [...ofAnyService, noQuorum(lookWithout)]

/** Without a majority changes are refused, and reads go on. */
async function lookWithout({ nodes }: Cluster): Promise<void> {
  const urls = nodes.map(({ url }) => url)
  expect(await Promise.all(urls.map((url) => refusalOf(url)))).toEqual([REFUSED, REFUSED, REFUSED])
  expect(await Promise.all(urls.map(reads))).toEqual([true, true, true])
  // The server that is left says what it knows of the stream, too: first as its leader, perhaps, then of none.
  for (const url of urls) await until(async () => (await ageOf(url)) > NO_LEADER_AFTER)
}

it('a cluster of kv under kills and halts: nothing acknowledged is lost, all see one order, and all bases are alike', async () => {
  const random = chancesOf('cluster')
  const cluster = await startCluster(temporaryFolder(), {
    snapshotIntervalEntries: 500,
    threads: 2,
    appendTimeout: 5_000,
  })
  onTestFinished(() => cluster.stop())
  await judged(cluster, random, (phase) => runFaults(faults, cluster, random, CALM, phase))
})

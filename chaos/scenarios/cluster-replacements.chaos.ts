import { createKvClient } from '@influencer-stats/kv/client'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { setTimeout as delay } from 'node:timers/promises'
import { it, onTestFinished } from 'vitest'
import { takesWrites } from '../src/cluster/asks.ts'
import { startCluster } from '../src/cluster/cluster.ts'
import { judged } from '../src/cluster/judged.ts'
import { chancesOf, isLong } from '../src/plan.ts'

const REPLACEMENTS = isLong ? 10 : 2
/** Values of a kilobyte that a new node has to get besides what clients write, so many at once. */
const [VALUES, AT_ONCE] = [20_000, 1_000]
/** Nodes take a snapshot within half a minute after it is due, and the log is trimmed behind the one before. */
const TRIMMED_WITHIN = 1_200_000
const CALM = 1_000

async function fill(url: string): Promise<void> {
  const client = createKvClient(url)
  try {
    const value = 'x'.repeat(1_024)
    for (let i = 0; i < VALUES; i += AT_ONCE)
      await client.batch(Array.from({ length: AT_ONCE }, (_, j) => ({ op: 'put', id: `filled/${i + j}`, value })))
  } finally {
    await client.close()
  }
}

it('nodes of kv are replaced from snapshots while writes flow: nothing is lost, and all bases are alike', async () => {
  const random = chancesOf('replacements')
  const cluster = await startCluster(temporaryFolder(), { snapshotIntervalEntries: 200, threads: 2 })
  onTestFinished(() => cluster.stop())
  await fill(cluster.nodes[0]!.url)
  const took: number[] = []
  await judged(cluster, random, async (phase) => {
    // From here on a node that has nothing needs a snapshot. Histories that end are searched for an order, so they are short.
    await until(async () => {
      phase()
      await delay(CALM)
      return (await cluster.begin()) > 1
    }, TRIMMED_WITHIN)
    for (let i = 0; i < REPLACEMENTS; i++) {
      phase()
      const node = random.below(cluster.nodes.length)
      const at = performance.now()
      await cluster.replace(node)
      took.push(Math.round(performance.now() - at))
      process.stdout.write(`node ${node + 1} is replaced, ready in ${took.at(-1)} ms\n`)
      await takesWrites(cluster.nodes[node]!.url)
      await delay(CALM)
    }
  })
})

import { createKvClient } from '@influencer-stats/kv/client'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setTimeout as delay } from 'node:timers/promises'
import { it, onTestFinished } from 'vitest'
import { waitForWrite } from '../src/cluster/probes.ts'
import { startCluster } from '../src/cluster/cluster.ts'
import { checkUnderClients } from '../src/cluster/check-linearizability.ts'
import { createTestRandom, isLong } from '../src/plan.ts'

const REPLACEMENTS = isLong ? 10 : 2
/** Values of a kilobyte that a new node must receive in addition to those of clients, and their number in a batch. */
const [VALUES, BATCH_VALUES] = [20_000, 1_000]
/** Nodes take a snapshot within half a minute after it is due; then the log is trimmed up to the previous one. */
const TRIM_TIMEOUT_MS = 1_200_000
const RECOVERY_MS = 1_000

async function fill(url: string): Promise<void> {
  const client = createKvClient(url)
  try {
    const value = 'x'.repeat(1_024)
    for (let i = 0; i < VALUES; i += BATCH_VALUES)
      await client.batch(Array.from({ length: BATCH_VALUES }, (_, j) => ({ op: 'put', id: `filled/${i + j}`, value })))
  } finally {
    await client.close()
  }
}

it('nodes of kv are replaced from snapshots during writes: no write is lost, and all bases are equal', async () => {
  const random = createTestRandom('replacements')
  const cluster = await startCluster(createTemporaryFolder(), { snapshotIntervalEntries: 200, threads: 2 })
  onTestFinished(() => cluster.stop())
  await fill(cluster.nodes[0]!.url)
  const took: number[] = []
  await checkUnderClients(cluster, random, async (phase) => {
    // From here on an empty node needs a snapshot. The search for an order takes finished histories, so they are short.
    await waitUntil(async () => {
      phase()
      await delay(RECOVERY_MS)
      return (await cluster.getFirstSequence()) > 1
    }, TRIM_TIMEOUT_MS)
    for (let i = 0; i < REPLACEMENTS; i++) {
      phase()
      const node = random.below(cluster.nodes.length)
      const at = performance.now()
      await cluster.replace(node)
      took.push(Math.round(performance.now() - at))
      process.stdout.write(`node ${node + 1} is replaced, ready in ${took.at(-1)} ms\n`)
      await waitForWrite(cluster.nodes[node]!.url)
      await delay(RECOVERY_MS)
    }
  })
})

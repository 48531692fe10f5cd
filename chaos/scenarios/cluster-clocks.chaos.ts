import { createKvClient } from '@influencer-stats/kv/client'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createStatsClient } from '@influencer-stats/stats/client'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { getAge, waitForWrite } from '../src/cluster/probes.ts'
import { createClockAheadEnv, hasFaketime } from '@influencer-stats/runtime/testing/faketime'
import { startCluster } from '../src/cluster/cluster.ts'
import { checkUnderClients } from '../src/cluster/check-linearizability.ts'
import { findPoller } from '../src/cluster/poller.ts'
import { createTestRandom, isLong } from '../src/plan.ts'
import { getReply, isReady } from '../src/ready.ts'
import { run } from '../src/service-process.ts'

// The clocks of nodes differ by a minute each, and the clock of the servers is in the middle.

const CLOCK_OFFSET_S = 60
const env = (node: number) => createClockAheadEnv((node - 1) * CLOCK_OFFSET_S)
const RECOVERY_MS = 2_000
const TTL_S = 3
/** Expiry is checked at intervals, on a busy machine. The wrong clock would shift it by a minute (ms). */
const MAX_LATENESS_MS = 20_000
const LEASE_MS = 5_000
const REFRESH_MS = 1_000
/** Maximum age of refreshed numbers (s). */
const MAX_AGE_S = 3
const TURNS = isLong ? 12 : 1

if (!hasFaketime) process.stdout.write('clocks apart are left out: they need libfaketime (a Debian package)\n')

const dateOf = async (url: string) => Date.parse((await fetch(`${url}/healthz`)).headers.get('date')!)

async function isFresh(url: string): Promise<boolean> {
  const answer = await getReply(`${url}/collections/c/stats`)
  return (
    answer !== undefined && JSON.parse(answer.text).stale === false && Number(answer.headers.get('age')) <= MAX_AGE_S
  )
}

it.skipIf(!hasFaketime)(
  'nodes of kv whose clocks are a minute apart: one order, and what expires does so in time on all',
  async () => {
    const random = createTestRandom('clocks')
    const cluster = await startCluster(createTemporaryFolder(), { threads: 2, appendTimeout: 5_000 }, 'kv', { env })
    onTestFinished(() => cluster.stop())
    const urls = cluster.nodes.map(({ url }) => url)
    // Checks the clocks.
    for (const [i, url] of urls.entries())
      expect(Math.abs((await dateOf(url)) - Date.now() - (i - 1) * CLOCK_OFFSET_S * 1_000)).toBeLessThan(5_000)
    const clients = urls.map((url) => createKvClient(url))
    onTestFinished(async () => void (await Promise.all(clients.map((client) => client.close()))))
    const isThere = async (key: string) =>
      Promise.all(clients.map(async (client) => (await client.get(key, { linearizable: true })) !== undefined))

    await checkUnderClients(cluster, random, async (phase) => {
      for (const [i, client] of clients.entries()) {
        phase()
        const key = `expires/${i}`
        const before = performance.now()
        await client.put(key, 'x', { ttl: TTL_S })
        const after = performance.now()
        while (performance.now() - before < TTL_S * 1_000 - 500) {
          const there = await isThere(key)
          if (performance.now() - before < TTL_S * 1_000) expect(there).toEqual([true, true, true])
          await delay(200)
        }
        await waitUntil(async () => !(await isThere(key)).includes(true))
        expect(performance.now() - after).toBeLessThan(TTL_S * 1_000 + MAX_LATENESS_MS)
        for (const url of urls) await waitUntil(async () => (await getAge(url)) === 0)
      }
      cluster.nodes[random.below(3)]!.kill()
      await delay(RECOVERY_MS)
      for (const url of urls) await waitUntil(() => isReady(url))
      await Promise.all(urls.map(waitForWrite))
    })
  },
)

it.skipIf(!hasFaketime)(
  'nodes of stats whose clocks are a minute apart: the lease holds, and numbers are as old as they are',
  async () => {
    const youtube = await run('youtube', createTemporaryFolder())
    onTestFinished(async () => void (await youtube.stop()))
    const settings = { youtubeUri: youtube.url, refreshInterval: REFRESH_MS, dailyBudget: 0, pollerLeaseTtl: LEASE_MS }
    const cluster = await startCluster(createTemporaryFolder(), settings, 'stats', { env })
    onTestFinished(() => cluster.stop())
    const { nodes } = cluster
    await createStatsClient(nodes[0]!.url).put('c', { videos: ['0000000000A'] })
    // Takes the node that is ahead and the node that is behind in turn.
    for (let turns = 0; turns < TURNS; turns++) {
      const poller = await findPoller(nodes)
      await delay(RECOVERY_MS)
      for (const { url } of nodes) await waitUntil(() => isFresh(url))
      const others = nodes.filter((node) => node !== poller)
      process.kill(poller.pid!, 'SIGSTOP')
      const at = performance.now()
      await findPoller(others)
      expect(performance.now() - at).toBeLessThanOrEqual(LEASE_MS + MAX_LATENESS_MS)
      process.kill(poller.pid!, 'SIGCONT')
      await waitUntil(() => isReady(poller.url))
    }
  },
)

import { createKvClient } from '@influencer-stats/kv/client'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { createStatsClient } from '@influencer-stats/stats/client'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { ageOf, takesWrites } from '../src/cluster/asks.ts'
import { clockAhead, hasFaketime } from '@influencer-stats/runtime/testing/faketime'
import { startCluster } from '../src/cluster/cluster.ts'
import { judged } from '../src/cluster/judged.ts'
import { pollerAmong } from '../src/cluster/poller.ts'
import { chancesOf, isLong } from '../src/plan.ts'
import { answerOf, isReady } from '../src/ready.ts'
import { run } from '../src/running.ts'

// The clocks of nodes are a minute apart, and that of the servers is between them.

const APART = 60
const env = (node: number) => clockAhead((node - 1) * APART)
const CALM = 2_000
const TTL = 3
/** What has expired is looked for now and then, on a machine that is busy: whose clock counts shows by a minute (ms). */
const LATE = 20_000
const LEASE = 5_000
const REFRESH = 1_000
/** Numbers that are refreshed (s). */
const FRESH = 3
const TURNS = isLong ? 12 : 1

if (!hasFaketime) process.stdout.write('clocks apart are left out: they need libfaketime (a Debian package)\n')

const dateOf = async (url: string) => Date.parse((await fetch(`${url}/healthz`)).headers.get('date')!)

async function isFresh(url: string): Promise<boolean> {
  const answer = await answerOf(`${url}/collections/c/stats`)
  return answer !== undefined && JSON.parse(answer.text).stale === false && Number(answer.headers.get('age')) <= FRESH
}

it.skipIf(!hasFaketime)(
  'nodes of kv whose clocks are a minute apart: one order, and what expires does so in time on all',
  async () => {
    const random = chancesOf('clocks')
    const cluster = await startCluster(temporaryFolder(), { threads: 2, appendTimeout: 5_000 }, 'kv', { env })
    onTestFinished(() => cluster.stop())
    const urls = cluster.nodes.map(({ url }) => url)
    // They are.
    for (const [i, url] of urls.entries())
      expect(Math.abs((await dateOf(url)) - Date.now() - (i - 1) * APART * 1_000)).toBeLessThan(5_000)
    const clients = urls.map((url) => createKvClient(url))
    onTestFinished(async () => void (await Promise.all(clients.map((client) => client.close()))))
    const isThere = async (key: string) =>
      Promise.all(clients.map(async (client) => (await client.get(key, { linearizable: true })) !== undefined))

    await judged(cluster, random, async (phase) => {
      for (const [i, client] of clients.entries()) {
        phase()
        const key = `expires/${i}`
        const before = performance.now()
        await client.put(key, 'x', { ttl: TTL })
        const after = performance.now()
        while (performance.now() - before < TTL * 1_000 - 500) {
          const there = await isThere(key)
          if (performance.now() - before < TTL * 1_000) expect(there).toEqual([true, true, true])
          await delay(200)
        }
        await until(async () => !(await isThere(key)).includes(true))
        expect(performance.now() - after).toBeLessThan(TTL * 1_000 + LATE)
        for (const url of urls) await until(async () => (await ageOf(url)) === 0)
      }
      cluster.nodes[random.below(3)]!.kill()
      await delay(CALM)
      for (const url of urls) await until(() => isReady(url))
      await Promise.all(urls.map(takesWrites))
    })
  },
)

it.skipIf(!hasFaketime)(
  'nodes of stats whose clocks are a minute apart: the lease holds, and numbers are as old as they are',
  async () => {
    const youtube = await run('youtube', temporaryFolder())
    onTestFinished(async () => void (await youtube.stop()))
    const settings = { youtubeUri: youtube.url, refreshInterval: REFRESH, dailyBudget: 0, pollerLeaseTtl: LEASE }
    const cluster = await startCluster(temporaryFolder(), settings, 'stats', { env })
    onTestFinished(() => cluster.stop())
    const { nodes } = cluster
    await createStatsClient(nodes[0]!.url).put('c', { videos: ['0000000000A'] })
    // In turn: the one that is ahead, the one that is behind.
    for (let turns = 0; turns < TURNS; turns++) {
      const poller = await pollerAmong(nodes)
      await delay(CALM)
      for (const { url } of nodes) await until(() => isFresh(url))
      const others = nodes.filter((node) => node !== poller)
      process.kill(poller.pid!, 'SIGSTOP')
      const at = performance.now()
      await pollerAmong(others)
      expect(performance.now() - at).toBeLessThanOrEqual(LEASE + LATE)
      process.kill(poller.pid!, 'SIGCONT')
      await until(() => isReady(poller.url))
    }
  },
)

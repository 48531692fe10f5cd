import { createStatsClient } from '@influencer-stats/stats/client'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { createControl } from '@influencer-stats/youtube/client'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { startCluster } from '../src/cluster/cluster.ts'
import { NO_LEADER_AFTER, withoutQuorum } from '../src/cluster/faults.ts'
import { isPolling, pollerAmong } from '../src/cluster/poller.ts'
import { chancesOf, isLong } from '../src/plan.ts'
import { answerOf, isReady } from '../src/ready.ts'
import { run, type Running } from '../src/running.ts'

// Every other one is a kill.
const ROUNDS = isLong ? 100 : 4
/** Of the poller, by default (ms). */
const LEASE = 5_000
/** What a machine that is busy with the load and all servers may take besides (ms). */
const SLACK = 1_000
const REFRESH = 1_000
const COLLECTIONS = 8
const VIDEOS = 70
/** Calls of one round. */
const CALLS = Math.ceil((COLLECTIONS * VIDEOS) / 50)
/** Calls that one poller may have under way: a unit is counted before its call. */
const CONNECTIONS = 16
/** Numbers (s). */
const STALE_AFTER = (2 * REFRESH) / 1_000
/** While nothing happens to the poller (ms). */
const CALM = 3_000

const idsOf = (collection: number) =>
  Array.from({ length: VIDEOS }, (_, i) => `${String(collection * VIDEOS + i).padStart(10, '0')}A`)

async function unitsUsed({ url }: Running): Promise<number> {
  const { text } = await until(() => answerOf(`${url}/metrics`))
  return Number(/^stats_quota_units_used (\d+)$/m.exec(text)?.[1])
}

/** For how long a node has heard nothing of the log (s). */
async function silenceOf({ url }: Running): Promise<number> {
  const { text } = await until(() => answerOf(`${url}/node`))
  return (JSON.parse(text) as { silence: number }).silence
}

/** The sums of a collection, as the stand-in itself tells them. */
async function impressionsAt(youtube: string, ids: readonly string[]): Promise<number> {
  let sum = 0
  for (let i = 0; i < ids.length; i += 50) {
    const query = `part=statistics&key=stand-in&id=${ids.slice(i, i + 50).join(',')}`
    const { items } = (await (await fetch(`${youtube}/youtube/v3/videos?${query}`)).json()) as {
      items: { statistics: { viewCount: string } }[]
    }
    for (const { statistics } of items) sum += Number(statistics.viewCount)
  }
  return sum
}

it('a cluster of stats under kills and halts of its poller: one asks, the numbers are right, and the quota is one count', async () => {
  const random = chancesOf('poller')
  const youtube = await run('youtube', temporaryFolder())
  onTestFinished(async () => void (await youtube.stop()))
  const control = createControl(youtube.url)
  const settings = { youtubeUri: youtube.url, refreshInterval: REFRESH, dailyBudget: 0, pollerLeaseTtl: LEASE }
  const cluster = await startCluster(temporaryFolder(), settings, 'stats')
  onTestFinished(() => cluster.stop())
  const { nodes } = cluster
  const clients = nodes.map(({ url }) => createStatsClient(url))
  for (let i = 0; i < COLLECTIONS; i++) await clients[i % nodes.length]!.put(`c${i}`, { videos: idsOf(i) })

  const takeOvers: number[] = []
  let kills = 0
  for (let round = 0; round < ROUNDS; round++) {
    const poller = await pollerAmong(nodes)
    // As many calls as one machine makes.
    const before = (await control.counts()).calls
    const since = performance.now()
    await delay(CALM)
    const calls = (await control.counts()).calls - before
    const rounds = (performance.now() - since) / REFRESH + 2
    expect(calls).toBeLessThanOrEqual(rounds * CALLS)
    expect(calls).toBeGreaterThan(0)

    const { pid } = poller
    if (!pid) continue
    const isKill = round % 2 === 0
    process.kill(pid, isKill ? 'SIGKILL' : 'SIGSTOP')
    kills += Number(isKill)
    const at = performance.now()
    const others = nodes.filter((node) => node !== poller)
    await pollerAmong(isKill ? nodes : others)
    takeOvers.push(performance.now() - at)
    if (!isKill) {
      await delay(random.below(2_000))
      process.kill(pid, 'SIGCONT')
      await until(async () => !(await isPolling(poller)))
    }
    // Changes go on meanwhile, on any of them.
    const changed = random.below(COLLECTIONS)
    await until(() =>
      random
        .one(clients)
        .patch(`c${changed}`, { name: `round ${round}` })
        .catch(() => undefined),
    )
  }
  const sorted = takeOvers.toSorted((a, b) => a - b)
  const [middle, longest] = [sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!]
  process.stdout.write(
    `taken over ${sorted.length} times: p50 ${Math.round(middle)} ms, max ${Math.round(longest)} ms\n`,
  )
  // A machine that stands still for a moment, as one that is shared does, is late once.
  expect(isLong ? longest : middle).toBeLessThanOrEqual(LEASE + SLACK)

  // One that starts needs the log.
  for (const { url } of nodes) await until(() => isReady(url))
  // Without a majority nobody asks, and every node says how old its numbers are, and how long it has heard nothing.
  await withoutQuorum(cluster, random, async () => {
    for (const [i, node] of nodes.entries()) {
      await until(async () => (await silenceOf(node)) > NO_LEADER_AFTER)
      const { text, headers } = await until(() => answerOf(`${node.url}/collections/c${i}/stats`))
      expect(JSON.parse(text)).toMatchObject({ stale: true })
      expect(Number(headers.get('age'))).toBeGreaterThan(STALE_AFTER)
    }
    expect(await Promise.all(nodes.map(isPolling))).toEqual([false, false, false])
  })
  await pollerAmong(nodes)

  await control.freezeClock()
  for (let i = 0; i < COLLECTIONS; i++) {
    const impressions = await impressionsAt(youtube.url, idsOf(i))
    for (const client of clients) await until(async () => (await client.stats(`c${i}`))?.impressions === impressions)
  }
  // What was asked here, and by this test itself.
  const used = await until(async () => {
    const all = await Promise.all(nodes.map(unitsUsed))
    return new Set(all).size === 1 && all[0]
  })
  const { calls } = await control.counts()
  const own = COLLECTIONS * Math.ceil(VIDEOS / 50)
  process.stdout.write(`${calls - own} calls, ${used} units\n`)
  // A count is kept before its call: of a poller that was killed or halted amid it there may be more units than calls.
  expect(used).toBeGreaterThanOrEqual(calls - own - CALLS)
  expect(used).toBeLessThanOrEqual(calls - own + ROUNDS * CONNECTIONS + CALLS)
  expect(kills).toBeGreaterThan(0)
})

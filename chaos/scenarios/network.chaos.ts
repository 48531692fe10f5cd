import { setTimeout as delay } from 'node:timers/promises'
import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { kv } from '@influencer-stats/kv/service'
import { sse } from '@influencer-stats/sse/service'
import { stats } from '@influencer-stats/stats/service'
import { createControl } from '@influencer-stats/youtube/client'
import { youtube } from '@influencer-stats/youtube/service'
import { it, type TestContext } from 'vitest'
import { getSeconds, WriteLedger } from '../src/write-ledger.ts'
import { createNodeProxy } from '../src/network/node-proxy.ts'
import type { NetworkFault, FaultProxy } from '../src/network/proxy.ts'
import { createToxiproxy } from '../src/network/toxiproxy.ts'
import { Oracle, type ServedStats } from '../src/network/oracle.ts'
import { createTestRandom, isLong } from '../src/plan.ts'
import { createStatsService } from '../src/services/stats.ts'
import { getUnits } from '../src/services/tested-service.ts'
import { write } from '../src/write.ts'

// The network between stats and its upstream fails.

const FAULTS: readonly NetworkFault[] = [
  { kind: 'latency', ms: 300, jitter: 600 },
  { kind: 'cut', afterBytes: 300, resets: false },
  { kind: 'cut', afterBytes: 300, resets: true },
  { kind: 'slow-close', ms: 2_000 },
  { kind: 'half-open' },
  { kind: 'bandwidth', bytesPerSecond: 1_000 },
  { kind: 'corrupt', oneIn: 2_000 },
  { kind: 'down' },
]
const INTERVAL_MS = 1_000
const FAULT_MS = isLong ? 60_000 : 3_000
const NETWORKS = isLong ? ['node', 'toxiproxy'] : ['node']
const SETTINGS = { logger: 'silent', refreshInterval: INTERVAL_MS, upstreamTimeout: INTERVAL_MS, dailyBudget: 0 }
const HOUR_MS = 3_600_000
const START = Date.UTC(2026, 0, 1)

async function createNetwork(
  { onTestFinished }: TestContext,
  name: string,
  target: string,
  corrupts?: 'requests',
): Promise<FaultProxy> {
  const proxy =
    name === 'toxiproxy'
      ? await createToxiproxy(target)
      : await createNodeProxy(target, createTestRandom('network'), corrupts)
  onTestFinished(() => proxy.close())
  return proxy
}

async function startEmbedded({ onTestFinished }: TestContext, ...of: Parameters<typeof embed>): Promise<string> {
  const running = await embed(...of)
  onTestFinished(async () => void (await running.stop()))
  return running.url
}

/** A collection that needs one call, and one that needs several. */
const COLLECTIONS = [3, 120].map((size, i) => ({
  id: `00000000-0000-4000-8000-00000000000${i}`,
  videos: Array.from({ length: size }, (_, j) => `video${i}-${String(j).padStart(4, '0')}`),
}))

const json = { 'content-type': 'application/json' }
const put = (url: string, id: string, videos: readonly string[]) =>
  fetch(`${url}/collections/${id}`, { method: 'PUT', headers: json, body: JSON.stringify({ videos }) })

async function withCollections({ expect }: TestContext, statsUrl: string, standIn: string) {
  const control = createControl(standIn)
  const truth = new Oracle(standIn, COLLECTIONS)
  const grow = async (hours: number) => {
    await control.freezeClock(START + hours * HOUR_MS)
    await truth.readNumbers()
  }
  await grow(0)
  for (const { id, videos } of COLLECTIONS) expect((await put(statsUrl, id, videos)).status).toBe(201)
  return { truth, grow }
}

it.concurrent.for(NETWORKS)(
  'stats behind a broken network (%s) to YouTube tells no wrong number and calls none fresh that is old',
  async (name, test) => {
    const standIn = await startEmbedded(test, youtube)
    const network = await createNetwork(test, name, standIn)
    const url = await startEmbedded(test, stats, {
      ...SETTINGS,
      data: createTemporaryFolder(),
      youtubeUri: network.url,
    })
    const { truth, grow } = await withCollections(test, url, standIn)
    const wrong: string[] = []
    let hours = 0

    async function watch(what: string, ms: number): Promise<void> {
      for (const end = Date.now() + ms; Date.now() < end; await delay(100)) {
        for (const { id } of COLLECTIONS) {
          const requestedAt = Date.now()
          const reply = await fetch(`${url}/collections/${id}/stats`, { signal: AbortSignal.timeout(20_000) })
          const numbers = (await reply.json()) as ServedStats
          const fault =
            reply.status === 200 ? truth.findViolation(id, numbers, requestedAt, 2 * INTERVAL_MS) : undefined
          if (fault) wrong.push(`${what}: ${fault}`)
        }
      }
    }

    await watch('all well', 2 * INTERVAL_MS)
    for (const fault of FAULTS.filter(({ kind }) => network.kinds.includes(kind))) {
      const what = JSON.stringify(fault)
      await network.set(fault)
      await grow(++hours)
      await watch(what, FAULT_MS)
      await network.set()
      await grow(++hours)
      // It recovers without help, and immediately.
      const isRight = async ({ id }: { id: string }) => {
        const numbers = (await (await fetch(`${url}/collections/${id}/stats`)).json()) as ServedStats
        return numbers.stale === false && truth.isCurrent(id, numbers)
      }
      const back = await waitUntil(
        async () => (await Promise.all(COLLECTIONS.map(isRight))).every(Boolean),
        20_000,
      ).catch(() => false)
      if (!back) wrong.push(`${what}: 20 s after its end the numbers are still old`)
    }
    test.expect([...new Set(wrong)]).toEqual([])
  },
)

it.concurrent.for(NETWORKS)(
  'stats behind a broken network (%s) to kv loses no collection and shows none that was deleted',
  async (name, test) => {
    const standIn = await startEmbedded(test, youtube)
    const network = await createNetwork(test, name, await startEmbedded(test, kv, { data: createTemporaryFolder() }))
    const settings = {
      ...SETTINGS,
      data: createTemporaryFolder(),
      youtubeUri: standIn,
      kvUri: network.url,
      state: 'kv',
    }
    const url = await startEmbedded(test, stats, settings)
    const subject = { ...createStatsService(standIn), writers: 4 }
    const wrong: string[] = []
    for (const fault of FAULTS.filter(({ kind }) => network.kinds.includes(kind))) {
      const what = JSON.stringify(fault)
      const session = subject.connect(url)
      const ledger = new WriteLedger(getUnits(subject).flat(), await session.read())
      const random = createTestRandom(`kv ${what}`)
      const stop = AbortSignal.timeout(FAULT_MS)
      const writing = write(session, { subject, ledger, random, durable: 100, retryUntil: stop })
      await delay(FAULT_MS / 4)
      await network.set(fault)
      await writing
      await network.set()
      const at = getSeconds()
      // A change without an answer is either made or not made once the network recovers. Until then nodes may differ.
      const apart = async () => {
        const found = await session.read()
        const units = getUnits(subject).flat()
        const replies = await Promise.all(units.map(({ keys }) => fetch(`${url}/collections/${keys[0]}/stats`)))
        return units.flatMap(({ keys }, i) => {
          const { status } = replies[i]!
          const isThere = found.has(keys[0]!)
          return isThere === (status === 404)
            ? [`${what}: ${keys[0]} ${isThere ? 'is' : 'is not'} there, its numbers are ${status}`]
            : []
        })
      }
      const isWell = async () => (await apart().catch(() => ['out'])).length === 0
      await waitUntil(isWell, 20_000).catch(async () => wrong.push(...(await apart())))
      wrong.push(...ledger.check(await session.read(), at).map((one) => `${what}: ${one}`))
      await session.close()
    }
    test.expect(wrong).toEqual([])
  },
)

it.concurrent.for(NETWORKS)(
  'sse behind a broken network (%s) has no wrong number, and the newest once the network is well',
  async (name, test) => {
    const standIn = await startEmbedded(test, youtube)
    const broadcaster = await startEmbedded(test, sse)
    const network = await createNetwork(test, name, broadcaster, 'requests')
    const url = await startEmbedded(test, stats, {
      ...SETTINGS,
      data: createTemporaryFolder(),
      youtubeUri: standIn,
      sseUri: network.url,
    })
    const { truth, grow } = await withCollections(test, url, standIn)
    const wrong: string[] = []
    let hours = 0
    const valueOf = async (id: string): Promise<ServedStats | undefined> => {
      const reply = await fetch(`${broadcaster}/value?topic=collections/${id}`)
      return reply.status === 200 ? ((await reply.json()) as ServedStats) : undefined
    }
    for (const fault of FAULTS.filter(({ kind }) => network.kinds.includes(kind))) {
      const what = JSON.stringify(fault)
      await network.set(fault)
      for (const end = Date.now() + FAULT_MS; Date.now() < end; await delay(500)) {
        await grow(++hours)
        for (const { id } of COLLECTIONS) {
          const value = await valueOf(id)
          if (value && !truth.wasEverCurrent(id, value)) wrong.push(`${what}: ${JSON.stringify(value)} was never right`)
        }
      }
      await network.set()
      await grow(++hours)
      const isNow = async ({ id }: { id: string }) => {
        const value = await valueOf(id)
        return value !== undefined && truth.isCurrent(id, value)
      }
      const back = await waitUntil(
        async () => (await Promise.all(COLLECTIONS.map(isNow))).every(Boolean),
        20_000,
      ).catch(() => false)
      if (!back) wrong.push(`${what}: 20 s after its end the newest has not come`)
    }
    test.expect(wrong).toEqual([])
  },
)

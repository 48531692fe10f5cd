import { setTimeout as delay } from 'node:timers/promises'
import { embed } from '@influencer-stats/runtime/embed'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { kv } from '@influencer-stats/kv/service'
import { sse } from '@influencer-stats/sse/service'
import { stats } from '@influencer-stats/stats/service'
import { createControl } from '@influencer-stats/youtube/client'
import { youtube } from '@influencer-stats/youtube/service'
import { it, type TestContext } from 'vitest'
import { clock, Ledger } from '../src/ledger.ts'
import { createNodeProxy } from '../src/network/node-proxy.ts'
import type { Fault, Proxy } from '../src/network/proxy.ts'
import { createToxiproxy } from '../src/network/toxiproxy.ts'
import { Truth, type Numbers } from '../src/network/truth.ts'
import { chancesOf, isLong } from '../src/plan.ts'
import { statsSubject } from '../src/subjects/stats.ts'
import { unitsOf } from '../src/subjects/subject.ts'
import { write } from '../src/write.ts'

// Between stats and what it asks there is a network that breaks.

const FAULTS: readonly Fault[] = [
  { kind: 'latency', ms: 300, jitter: 600 },
  { kind: 'cut', afterBytes: 300, resets: false },
  { kind: 'cut', afterBytes: 300, resets: true },
  { kind: 'slow-close', ms: 2_000 },
  { kind: 'half-open' },
  { kind: 'bandwidth', bytesPerSecond: 1_000 },
  { kind: 'corrupt', oneIn: 2_000 },
  { kind: 'down' },
]
const INTERVAL = 1_000
const FAULT_MS = isLong ? 60_000 : 3_000
const NETWORKS = isLong ? ['node', 'toxiproxy'] : ['node']
const SETTINGS = { logger: 'silent', refreshInterval: INTERVAL, upstreamTimeout: INTERVAL, dailyBudget: 0 }
const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)

async function networkTo(
  { onTestFinished }: TestContext,
  name: string,
  target: string,
  corrupts?: 'requests',
): Promise<Proxy> {
  const proxy =
    name === 'toxiproxy' ? await createToxiproxy(target) : await createNodeProxy(target, chancesOf('network'), corrupts)
  onTestFinished(() => proxy.close())
  return proxy
}

async function started({ onTestFinished }: TestContext, ...of: Parameters<typeof embed>): Promise<string> {
  const running = await embed(...of)
  onTestFinished(async () => void (await running.stop()))
  return running.url
}

/** A collection that one call fetches, and one of several calls. */
const COLLECTIONS = [3, 120].map((size, i) => ({
  id: `00000000-0000-4000-8000-00000000000${i}`,
  videos: Array.from({ length: size }, (_, j) => `video${i}-${String(j).padStart(4, '0')}`),
}))

const json = { 'content-type': 'application/json' }
const put = (url: string, id: string, videos: readonly string[]) =>
  fetch(`${url}/collections/${id}`, { method: 'PUT', headers: json, body: JSON.stringify({ videos }) })

async function withCollections({ expect }: TestContext, statsUrl: string, standIn: string) {
  const control = createControl(standIn)
  const truth = new Truth(standIn, COLLECTIONS)
  const grow = async (hours: number) => {
    await control.freezeClock(START + hours * HOUR)
    await truth.changed()
  }
  await grow(0)
  for (const { id, videos } of COLLECTIONS) expect((await put(statsUrl, id, videos)).status).toBe(201)
  return { truth, grow }
}

it.concurrent.for(NETWORKS)(
  'stats behind a broken network (%s) to YouTube tells no wrong number and calls none fresh that is old',
  async (name, test) => {
    const standIn = await started(test, youtube)
    const network = await networkTo(test, name, standIn)
    const url = await started(test, stats, { ...SETTINGS, data: temporaryFolder(), youtubeUri: network.url })
    const { truth, grow } = await withCollections(test, url, standIn)
    const wrong: string[] = []
    let hours = 0

    async function watch(what: string, ms: number): Promise<void> {
      for (const end = Date.now() + ms; Date.now() < end; await delay(100)) {
        for (const { id } of COLLECTIONS) {
          const asked = Date.now()
          const reply = await fetch(`${url}/collections/${id}/stats`, { signal: AbortSignal.timeout(20_000) })
          const numbers = (await reply.json()) as Numbers
          const fault = reply.status === 200 ? truth.fault(id, numbers, asked, 2 * INTERVAL) : undefined
          if (fault) wrong.push(`${what}: ${fault}`)
        }
      }
    }

    await watch('all well', 2 * INTERVAL)
    for (const fault of FAULTS.filter(({ kind }) => network.kinds.includes(kind))) {
      const what = JSON.stringify(fault)
      await network.set(fault)
      await grow(++hours)
      await watch(what, FAULT_MS)
      await network.set()
      await grow(++hours)
      // It finds back by itself, and at once.
      const isRight = async ({ id }: { id: string }) => {
        const numbers = (await (await fetch(`${url}/collections/${id}/stats`)).json()) as Numbers
        return numbers.stale === false && truth.isNow(id, numbers)
      }
      const back = await until(async () => (await Promise.all(COLLECTIONS.map(isRight))).every(Boolean), 20_000).catch(
        () => false,
      )
      if (!back) wrong.push(`${what}: 20 s after its end the numbers are still old`)
    }
    test.expect([...new Set(wrong)]).toEqual([])
  },
)

it.concurrent.for(NETWORKS)(
  'stats behind a broken network (%s) to kv loses no collection and shows none that was deleted',
  async (name, test) => {
    const standIn = await started(test, youtube)
    const network = await networkTo(test, name, await started(test, kv, { data: temporaryFolder() }))
    const settings = { ...SETTINGS, data: temporaryFolder(), youtubeUri: standIn, kvUri: network.url, state: 'kv' }
    const url = await started(test, stats, settings)
    const subject = { ...statsSubject(standIn), writers: 4 }
    const wrong: string[] = []
    for (const fault of FAULTS.filter(({ kind }) => network.kinds.includes(kind))) {
      const what = JSON.stringify(fault)
      const session = subject.connect(url)
      const ledger = new Ledger(unitsOf(subject).flat(), await session.read())
      const random = chancesOf(`kv ${what}`)
      const stop = AbortSignal.timeout(FAULT_MS)
      const writing = write(session, { subject, ledger, random, durable: 100, goesOnUntil: stop })
      await delay(FAULT_MS / 4)
      await network.set(fault)
      await writing
      await network.set()
      const at = clock()
      // What had no answer is made for good once the network is well, or was never made: until then they may differ.
      const apart = async () => {
        const found = await session.read()
        const units = unitsOf(subject).flat()
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
      await until(isWell, 20_000).catch(async () => wrong.push(...(await apart())))
      wrong.push(...ledger.judge(await session.read(), at).map((one) => `${what}: ${one}`))
      await session.close()
    }
    test.expect(wrong).toEqual([])
  },
)

it.concurrent.for(NETWORKS)(
  'sse behind a broken network (%s) has no wrong number, and the newest once the network is well',
  async (name, test) => {
    const standIn = await started(test, youtube)
    const broadcaster = await started(test, sse)
    const network = await networkTo(test, name, broadcaster, 'requests')
    const url = await started(test, stats, {
      ...SETTINGS,
      data: temporaryFolder(),
      youtubeUri: standIn,
      sseUri: network.url,
    })
    const { truth, grow } = await withCollections(test, url, standIn)
    const wrong: string[] = []
    let hours = 0
    const valueOf = async (id: string): Promise<Numbers | undefined> => {
      const reply = await fetch(`${broadcaster}/value?topic=collections/${id}`)
      return reply.status === 200 ? ((await reply.json()) as Numbers) : undefined
    }
    for (const fault of FAULTS.filter(({ kind }) => network.kinds.includes(kind))) {
      const what = JSON.stringify(fault)
      await network.set(fault)
      for (const end = Date.now() + FAULT_MS; Date.now() < end; await delay(500)) {
        await grow(++hours)
        for (const { id } of COLLECTIONS) {
          const value = await valueOf(id)
          if (value && !truth.wasEver(id, value)) wrong.push(`${what}: ${JSON.stringify(value)} was never right`)
        }
      }
      await network.set()
      await grow(++hours)
      const isNow = async ({ id }: { id: string }) => {
        const value = await valueOf(id)
        return value !== undefined && truth.isNow(id, value)
      }
      const back = await until(async () => (await Promise.all(COLLECTIONS.map(isNow))).every(Boolean), 20_000).catch(
        () => false,
      )
      if (!back) wrong.push(`${what}: 20 s after its end the newest has not come`)
    }
    test.expect(wrong).toEqual([])
  },
)

import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { getResidentMegabytes } from '@influencer-stats/bench/processes'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { isAlive, waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { WriteLedger } from '../src/write-ledger.ts'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { createTestRandom, isLong } from '../src/plan.ts'
import { run, type ServiceProcess } from '../src/service-process.ts'
import { createKvService } from '../src/services/kv.ts'
import { createPricesService } from '../src/services/prices.ts'
import { createSseService } from '../src/services/sse.ts'
import { createStatsService } from '../src/services/stats.ts'
import { getUnits, type TestedService } from '../src/services/tested-service.ts'
import { write } from '../src/write.ts'
import { isReady } from '../src/ready.ts'

// All services together, under writers. One of them is killed at intervals, and its supervisor restarts it.

const MINUTES = isLong ? 20 : 0.75
const KILL_INTERVAL_MS = isLong ? 30_000 : 8_000
const SAMPLE_INTERVAL_MS = 1_000
/** Allowed growth of memory from the first third to the last (MB, and as a share). */
const MORE_MEGABYTES = 40
const MORE_SHARE = 0.25
/** Clients open up to 64 connections as answers take longer. A leak in each request would add thousands. */
const MORE_DESCRIPTORS = 128

interface ProcessSample {
  readonly megabytes: number
  readonly descriptors: number
}

const sampleOf = (pid: number): ProcessSample => ({
  megabytes: getResidentMegabytes(pid),
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
})

const middle = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

it('memory and descriptors stay stable while services are killed one after the other', async () => {
  const random = createTestRandom('soak')
  const services = new Map<string, ServiceProcess>()
  async function start(service: string, settings: Readonly<Record<string, string | number>> = {}): Promise<string> {
    // Keeps the port after a restart, so that its clients find it again.
    const running = await run(service, createTemporaryFolder(), {
      settings: { ...settings, port: await findFreePort() },
    })
    services.set(service, running)
    onTestFinished(async () => void (await running.stop()))
    return running.url
  }
  const youtubeUri = await start('youtube')
  const kv = createKvService()
  const sse = createSseService()
  const prices = createPricesService()
  const kvUri = await start('kv', kv.settings)
  const sseUri = await start('sse', sse.settings)
  const subjects: [TestedService, string][] = [
    [kv, kvUri],
    [sse, sseUri],
    [prices, await start('prices', prices.settings)],
    [
      createStatsService(youtubeUri),
      await start('stats', { youtubeUri, kvUri, sseUri, state: 'kv', refreshInterval: 1_000 }),
    ],
  ]

  const over = AbortSignal.timeout(MINUTES * 60_000)
  const sessions = subjects.map(([subject, url]) => subject.connect(url))
  const writing = subjects.map(([subject], i) => {
    const ledger = new WriteLedger(getUnits(subject).flat(), new Map())
    return write(sessions[i]!, {
      subject,
      ledger,
      random: random.part(subject.service),
      durable: 50,
      retryUntil: over,
      pause: 20,
    })
  })
  const samples = new Map<string, ProcessSample[]>()
  let kills = 0
  let nextKill = Date.now() + KILL_INTERVAL_MS
  const names = [...services.keys()]
  for (; !over.aborted; await delay(SAMPLE_INTERVAL_MS)) {
    for (const [name, { pid, supervisor }] of services) {
      for (const [processName, of] of [
        [name, pid],
        [`${name}'s supervisor`, supervisor],
      ] as const) {
        if (!of || !isAlive(of)) continue
        const list = samples.get(processName) ?? []
        samples.set(processName, list)
        list.push(sampleOf(of))
      }
    }
    if (Date.now() < nextKill) continue
    nextKill += KILL_INTERVAL_MS
    services.get(names[kills++ % names.length]!)!.kill()
  }
  await Promise.all(writing)
  await Promise.all(sessions.map((session) => session.close()))

  const grown = [...samples].flatMap(([processName, list]) => {
    const third = Math.ceil(list.length / 3)
    // The size of a process is its maximum in the first third.
    const [first, last] = [list.slice(0, third), list.slice(-third)]
    const largest = Math.max(...first.map(({ megabytes }) => megabytes))
    const now = middle(last.map(({ megabytes }) => megabytes))
    const descriptors = [first, last].map((part) => middle(part.map((one) => one.descriptors)))
    return [
      ...(now > largest * (1 + MORE_SHARE) + MORE_MEGABYTES
        ? [`${processName}: ${now.toFixed()} MB, were ${largest.toFixed()}`]
        : []),
      ...(descriptors[1]! > descriptors[0]! + MORE_DESCRIPTORS
        ? [`${processName}: ${descriptors[1]} descriptors, were ${descriptors[0]}`]
        : []),
    ]
  })
  expect(grown).toEqual([])
  // All of them are ready again.
  for (const [, { url }] of services) expect(await waitUntil(() => isReady(url))).toBe(true)
})

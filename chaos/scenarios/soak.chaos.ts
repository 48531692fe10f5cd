import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { residentMegabytes } from '@influencer-stats/bench/processes'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { isAlive, until } from '@influencer-stats/runtime/testing/until'
import { expect, it, onTestFinished } from 'vitest'
import { Ledger } from '../src/ledger.ts'
import { freePort } from '@influencer-stats/runtime/testing/free-port'
import { chancesOf, isLong } from '../src/plan.ts'
import { run, type Running } from '../src/running.ts'
import { kvSubject } from '../src/subjects/kv.ts'
import { pricesSubject } from '../src/subjects/prices.ts'
import { sseSubject } from '../src/subjects/sse.ts'
import { statsSubject } from '../src/subjects/stats.ts'
import { unitsOf, type Subject } from '../src/subjects/subject.ts'
import { write } from '../src/write.ts'
import { isReady } from '../src/ready.ts'

// All services together, under writers, and every so often one of them is killed: its supervisor starts it again.

const MINUTES = isLong ? 20 : 0.75
const KILL_EVERY = isLong ? 30_000 : 8_000
const SAMPLE_EVERY = 1_000
/** Memory may differ by so much between the first third and the last (MB, and a share of it). */
const MORE_MEGABYTES = 40
const MORE_SHARE = 0.25
/** Clients open up to 64 connections as answers take longer; what is left open by each request comes to thousands. */
const MORE_DESCRIPTORS = 128

interface Sample {
  readonly megabytes: number
  readonly descriptors: number
}

const sampleOf = (pid: number): Sample => ({
  megabytes: residentMegabytes(pid),
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
})

const middle = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

it('keeps its memory and its descriptors while its services are killed one after the other', async () => {
  const random = chancesOf('soak')
  const services = new Map<string, Running>()
  async function start(service: string, settings: Readonly<Record<string, string | number>> = {}): Promise<string> {
    // The same port after a restart: its clients find it again.
    const running = await run(service, temporaryFolder(), { settings: { ...settings, port: await freePort() } })
    services.set(service, running)
    onTestFinished(async () => void (await running.stop()))
    return running.url
  }
  const youtubeUri = await start('youtube')
  const kv = kvSubject()
  const sse = sseSubject()
  const prices = pricesSubject()
  const kvUri = await start('kv', kv.settings)
  const sseUri = await start('sse', sse.settings)
  const subjects: [Subject, string][] = [
    [kv, kvUri],
    [sse, sseUri],
    [prices, await start('prices', prices.settings)],
    [
      statsSubject(youtubeUri),
      await start('stats', { youtubeUri, kvUri, sseUri, state: 'kv', refreshInterval: 1_000 }),
    ],
  ]

  const over = AbortSignal.timeout(MINUTES * 60_000)
  const sessions = subjects.map(([subject, url]) => subject.connect(url))
  const writing = subjects.map(([subject], i) => {
    const ledger = new Ledger(unitsOf(subject).flat(), new Map())
    return write(sessions[i]!, {
      subject,
      ledger,
      random: random.part(subject.service),
      durable: 50,
      goesOnUntil: over,
      pause: 20,
    })
  })
  const samples = new Map<string, Sample[]>()
  let kills = 0
  let nextKill = Date.now() + KILL_EVERY
  const names = [...services.keys()]
  for (; !over.aborted; await delay(SAMPLE_EVERY)) {
    for (const [name, { pid, supervisor }] of services) {
      for (const [who, of] of [
        [name, pid],
        [`${name}'s supervisor`, supervisor],
      ] as const) {
        if (!of || !isAlive(of)) continue
        const list = samples.get(who) ?? []
        samples.set(who, list)
        list.push(sampleOf(of))
      }
    }
    if (Date.now() < nextKill) continue
    nextKill += KILL_EVERY
    services.get(names[kills++ % names.length]!)!.kill()
  }
  await Promise.all(writing)
  await Promise.all(sessions.map((session) => session.close()))

  const grown = [...samples].flatMap(([who, list]) => {
    const third = Math.ceil(list.length / 3)
    // What a process has taken up by the end of its first third is its size.
    const [first, last] = [list.slice(0, third), list.slice(-third)]
    const most = Math.max(...first.map(({ megabytes }) => megabytes))
    const now = middle(last.map(({ megabytes }) => megabytes))
    const descriptors = [first, last].map((part) => middle(part.map((one) => one.descriptors)))
    return [
      ...(now > most * (1 + MORE_SHARE) + MORE_MEGABYTES
        ? [`${who}: ${now.toFixed()} MB, were ${most.toFixed()}`]
        : []),
      ...(descriptors[1]! > descriptors[0]! + MORE_DESCRIPTORS
        ? [`${who}: ${descriptors[1]} descriptors, were ${descriptors[0]}`]
        : []),
    ]
  })
  expect(grown).toEqual([])
  // All of them are back.
  for (const [, { url }] of services) expect(await until(() => isReady(url))).toBe(true)
})

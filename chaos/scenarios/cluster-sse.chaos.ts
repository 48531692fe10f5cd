import { createSseClient } from '@influencer-stats/sse/client'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { classifyOutcome } from '../src/cluster/cluster-clients.ts'
import { startCluster, type ChaosCluster } from '../src/cluster/cluster.ts'
import { REFUSED_REPLY, waitForRefusal } from '../src/cluster/probes.ts'
import { createQuorumLoss, runFaults, nonKvFaults, type ClusterFault } from '../src/cluster/faults.ts'
import { createTestRandom } from '../src/plan.ts'
import type { SeededRandom } from '../src/random.ts'
import { getReply } from '../src/ready.ts'

const PUTTERS = 6
const READERS = 8
const TOPICS = ['a', 'b', 'c']
/** Time between faults for the cluster to recover (ms). */
const RECOVERY_MS = 1_000

/** Maximum staleness of a node that receives the log (s). */
const MAX_STALENESS_S = 5

const SETTINGS = {
  snapshotIntervalEntries: 500,
  threads: 2,
  appendTimeout: 5_000,
  retry: 100,
  historyCount: 100_000,
  historyBytes: 67_108_864,
  historyTotal: 1_073_741_824,
}

const faults: readonly ClusterFault[] = [...nonKvFaults, createQuorumLoss(checkWithoutQuorum)]

/** Without a majority the nodes refuse changes and serve reads. */
async function checkWithoutQuorum({ nodes }: ChaosCluster): Promise<void> {
  const open = await Promise.all(nodes.map(({ url }) => openStream(url)))
  const refusals = await Promise.all(nodes.map(({ url }) => waitForRefusal(() => putRefused(url))))
  expect(refusals).toEqual([REFUSED_REPLY, REFUSED_REPLY, REFUSED_REPLY])
  expect(await Promise.all(nodes.map(({ url }) => getReply(`${url}/value?topic=a`)))).not.toContain(undefined)
  for (const { url } of nodes) await waitUntil(async () => (await getStaleness(url)) > MAX_STALENESS_S)
  expect(open.map(({ hasEnded }) => hasEnded())).toEqual([false, false, false])
  for (const { close } of open) close()
}

/** Staleness of a node (s). */
async function getStaleness(url: string): Promise<number> {
  const { text } = await waitUntil(() => getReply(`${url}/metrics`))
  return Number(/^sse_log_staleness_seconds (\S+)$/m.exec(text)?.[1])
}

/** A stream that stays open. */
async function openStream(url: string) {
  const closing = new AbortController()
  const reply = await fetch(`${url}/wait`, { signal: closing.signal })
  let ended = false
  void reply.text().then(
    () => (ended = true),
    () => (ended = true),
  )
  return { hasEnded: () => ended, close: () => closing.abort() }
}

/** Puts a value that must be refused. */
const putRefused = (url: string) => fetch(`${url}/put?topic=refused`, { method: 'POST', body: 'x' })

/** Outcomes of values: `id value` if the id is known. */
interface PutOutcomes {
  readonly acknowledged: string[]
  /** No client may ever receive these. */
  readonly refused: string[]
  readonly unknown: string[]
}

/** Puts values one after the other, on any node, until it is aborted. */
async function put(
  urls: readonly string[],
  name: string,
  random: SeededRandom,
  into: PutOutcomes,
  signal: AbortSignal,
): Promise<void> {
  for (let count = 0; !signal.aborted; count++) {
    const value = `${name}.${count}`
    try {
      const id = await createSseClient(random.one(urls)).put(value, random.one(TOPICS))
      into.acknowledged.push(`${id} ${value}`)
    } catch (error) {
      into[classifyOutcome(error) === 'unknown' ? 'unknown' : 'refused'].push(value)
      await delay(50)
    }
    await delay(random.below(10))
  }
}

/** Events of one client, as `id value`; a gap is also an event. */
async function read(
  urls: readonly string[],
  begin: string,
  random: SeededRandom,
  seen: string[],
  signal: AbortSignal,
): Promise<void> {
  let after = begin
  while (!signal.aborted) {
    const client = createSseClient(random.one(urls))
    const hop = AbortSignal.any([signal, AbortSignal.timeout(300 + random.below(1_500))])
    for await (const event of client.subscribe({ topics: TOPICS, after, signal: hop })) {
      after = event.id
      seen.push(event.kind === 'gap' ? `${event.id} gap` : `${event.id} ${event.value}`)
    }
  }
}

const seqOf = (event: string) => Number(/-(\d+) /.exec(event)![1])
const valueOf = (event: string) => event.slice(event.indexOf(' ') + 1)

it('a cluster of sse under kills and halts: streams that move between nodes receive every value once, in one order', async () => {
  const random = createTestRandom('cluster sse')
  const cluster = await startCluster(createTemporaryFolder(), SETTINGS, 'sse')
  onTestFinished(() => cluster.stop())
  const urls = cluster.nodes.map(({ url }) => url)
  const begin = await createSseClient(urls[0]!).put('begin', TOPICS[0])
  const into: PutOutcomes = { acknowledged: [], refused: [], unknown: [] }
  const putting = new AbortController()
  const reading = new AbortController()
  onTestFinished(() => {
    putting.abort()
    reading.abort()
  })
  const putters = Array.from({ length: PUTTERS }, (_, i) =>
    put(urls, String(i), random.part(`putter ${i}`), into, putting.signal),
  )
  const seen = Array.from({ length: READERS }, (): string[] => [])
  const readers = seen.map((one, i) => read(urls, begin, random.part(`reader ${i}`), one, reading.signal))

  await runFaults(faults, cluster, random, RECOVERY_MS)
  putting.abort()
  await Promise.all(putters)
  const end = await waitUntil(() =>
    createSseClient(urls[0]!)
      .put('end', TOPICS[0])
      .catch(() => undefined),
  )
  await waitUntil(() => seen.every((events) => events.at(-1) === `${end} end`))
  reading.abort()
  await Promise.all(readers)
  process.stdout.write(
    `${JSON.stringify({ acknowledged: into.acknowledged.length, refused: into.refused.length, unknown: into.unknown.length })}\n`,
  )

  const [first] = seen
  for (const events of seen) expect(events).toEqual(first)
  expect(first!.map(seqOf)).toEqual([...new Set(first!.map(seqOf))].toSorted((a, b) => a - b))
  const all = new Set(first)
  expect(into.acknowledged.filter((event) => !all.has(event))).toEqual([])
  const values = first!.map(valueOf).filter((value) => value !== 'end')
  // Clients received only values that were put, each once.
  expect(new Set(values).size).toBe(values.length)
  const known = new Set([...into.acknowledged.map(valueOf), ...into.unknown])
  expect(values.filter((value) => !known.has(value))).toEqual([])
  for (const topic of TOPICS) {
    // A node without a reader may still apply the last values.
    await waitUntil(async () => {
      const current = await Promise.all(urls.map((url) => waitUntil(() => getReply(`${url}/value?topic=${topic}`))))
      return new Set(current.map(({ headers }) => headers.get('event-id'))).size === 1
    })
  }
  // The clients made progress.
  expect(into.acknowledged.length).toBeGreaterThan(50)
})

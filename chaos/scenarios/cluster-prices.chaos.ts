import { createPricesClient, type PricesClient, type SimplePrice } from '@influencer-stats/prices/client'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { classifyOutcome } from '../src/cluster/cluster-clients.ts'
import { startCluster, type ChaosCluster } from '../src/cluster/cluster.ts'
import { createQuorumLoss, runFaults, nonKvFaults, type ClusterFault } from '../src/cluster/faults.ts'
import { createTestRandom } from '../src/plan.ts'
import type { SeededRandom } from '../src/random.ts'
import { getReply } from '../src/ready.ts'

const PUTTERS = 6
/** Number of ids of each writer. */
const IDS = 5
const IMPORTERS = 2
/** Enough for a new generation of the catalog and for several pieces of an import. */
const IMPORTED_PRICES = 4_000
/** Time between faults for the cluster to recover (ms). */
const RECOVERY_MS = 1_000

const SETTINGS = { snapshotIntervalEntries: 300, threads: 2, appendTimeout: 5_000, indexes: 'bitset' }

const faults: readonly ClusterFault[] = [...nonKvFaults, createQuorumLoss(checkWithoutQuorum)]

/** Without a majority the nodes refuse changes and serve reads. */
async function checkWithoutQuorum({ nodes }: ChaosCluster): Promise<void> {
  const refusals = await Promise.all(nodes.map(({ url }) => refusalOf(createPricesClient(url))))
  for (const refusal of refusals) expect(refusal).toMatch(/^(LOG_UNAVAILABLE|OUTCOME_UNKNOWN)$/)
  const reads = await Promise.all(nodes.map(({ url }) => getReply(`${url}/facets?facet=offerings`)))
  expect(reads).not.toContain(undefined)
}

/** Reply of a node to a price that it cannot store. */
const refusalOf = (client: PricesClient) =>
  waitUntil(() =>
    client.put(priceOf(idOf(999_999), 1)).then(
      () => undefined,
      (error: unknown) => (error instanceof ServiceError ? error.code : undefined),
    ),
  )

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const FIRST_IMPORTED_ID = 500_000
const isImported = ({ id }: SimplePrice) => Number(id.slice(-6)) >= FIRST_IMPORTED_ID && Number(id.slice(-6)) < 900_000

const priceOf = (id: string, value: number): SimplePrice => ({
  id,
  offeringId: `o${id.slice(-1)}`,
  groupId: 'g',
  priceSpecId: 's',
  charValues: [{ char: 'Place', value: id.slice(-2) }],
  value,
})

// Codes of imports that had no effect, in addition to those of any change.
const IMPORT_REFUSALS = new Set(['IMPORT_RUNNING', 'IMPORT_LOST'])

const classifyChange = (error: unknown) =>
  error instanceof ServiceError && IMPORT_REFUSALS.has(error.code) ? 'not-done' : classifyOutcome(error)

/** A change of one price, or of all imported ones; without a value it is a delete. */
interface TimedPriceChange {
  readonly value: number | undefined
  readonly calledAt: number
  /** `Infinity`: it is unknown if the change was made, or will be made. */
  readonly returnedAt: number
}

/** State that clients know. */
interface ClientKnowledge {
  /** Possible values, by id, or for `import`. */
  readonly changes: Map<string, TimedPriceChange[]>
  readonly refused: Set<number>
  acknowledged: number
  unknown: number
}

let last = 0

/** Makes a change and records its outcome. */
async function note(
  known: ClientKnowledge,
  what: string,
  value: number | undefined,
  act: () => Promise<unknown>,
): Promise<void> {
  const calledAt = performance.now()
  const changes = known.changes.get(what) ?? []
  known.changes.set(what, changes)
  try {
    await act()
    changes.push({ value, calledAt, returnedAt: performance.now() })
    known.acknowledged++
  } catch (error) {
    if (classifyChange(error) === 'unknown') {
      changes.push({ value, calledAt, returnedAt: Infinity })
      known.unknown++
    } else if (value !== undefined) known.refused.add(value)
    await delay(50)
  }
}

async function put(
  urls: readonly string[],
  putter: number,
  random: SeededRandom,
  known: ClientKnowledge,
  signal: AbortSignal,
) {
  while (!signal.aborted) {
    const id = idOf(putter * 100 + random.below(IDS))
    const client = createPricesClient(random.one(urls))
    const value = ++last
    if (random.below(5) === 0) await note(known, id, undefined, () => client.delete(id))
    else await note(known, id, value, () => client.put(priceOf(id, value)))
    await delay(random.below(20))
  }
}

async function importAll(urls: readonly string[], random: SeededRandom, known: ClientKnowledge, signal: AbortSignal) {
  while (!signal.aborted) {
    const value = ++last
    const lines = Array.from({ length: IMPORTED_PRICES }, (_, i) =>
      JSON.stringify(priceOf(idOf(FIRST_IMPORTED_ID + i), value)),
    )
    await note(known, 'import', value, () => createPricesClient(random.one(urls)).import(lines.join('\n')))
    await delay(random.below(1_000))
  }
}

const pricesIn = (text: string): SimplePrice[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** The value of the imported prices in a catalog: all from one import, or `undefined` if there are none. */
function importOf(prices: readonly SimplePrice[]): number | undefined {
  const imported = prices.filter(isImported)
  if (imported.length === 0) return undefined
  expect([imported.length, new Set(imported.map(({ value }) => value)).size]).toEqual([IMPORTED_PRICES, 1])
  return imported[0]!.value
}

/** Reads catalogs from any node while changes are made. */
async function readCatalogs(
  urls: readonly string[],
  random: SeededRandom,
  seen: (number | undefined)[],
  signal: AbortSignal,
) {
  while (!signal.aborted) {
    const answer = await getReply(`${random.one(urls)}/prices`)
    if (answer) seen.push(importOf(pricesIn(answer.text)))
    await delay(random.below(600))
  }
}

/**
 * Returns why a final value is impossible: an acknowledged change followed the change that made it. Else `undefined`.
 */
function findWrongValue(changes: readonly TimedPriceChange[], value: number | undefined): string | undefined {
  const settled = changes.filter(({ returnedAt }) => returnedAt !== Infinity)
  const isLast = (change: TimedPriceChange) => settled.every(({ calledAt }) => calledAt <= change.returnedAt)
  const isNothing = value === undefined && settled.length === 0
  if (isNothing || changes.some((change) => change.value === value && isLast(change))) return undefined
  return `${value} of ${JSON.stringify(changes.slice(-4))}`
}

it('a cluster of prices under kills and halts: every import is atomic, and all catalogs are equal', async () => {
  const random = createTestRandom('cluster prices')
  const cluster = await startCluster(createTemporaryFolder(), SETTINGS, 'prices')
  onTestFinished(() => cluster.stop())
  const urls = cluster.nodes.map(({ url }) => url)
  const known: ClientKnowledge = { changes: new Map(), refused: new Set(), acknowledged: 0, unknown: 0 }
  const working = new AbortController()
  onTestFinished(() => working.abort())
  const { signal } = working
  const seen: (number | undefined)[] = []
  const workers = [
    ...Array.from({ length: PUTTERS }, (_, i) => put(urls, i, random.part(`putter ${i}`), known, signal)),
    ...Array.from({ length: IMPORTERS }, (_, i) => importAll(urls, random.part(`importer ${i}`), known, signal)),
    ...Array.from({ length: 2 }, (_, i) => readCatalogs(urls, random.part(`reader ${i}`), seen, signal)),
  ]
  const isBroken = Promise.all(workers)
  isBroken.catch(() => {})
  await Promise.race([runFaults(faults, cluster, random, RECOVERY_MS), isBroken])
  const imports = known.changes.get('import')!
  const settled = () => imports.filter(({ returnedAt }) => returnedAt !== Infinity).length
  // A writer whose node was killed delays others for a while.
  await waitUntil(() => settled() > 3 && new Set(seen).size > 3)
  working.abort()
  await isBroken

  const catalogs: string[] = []
  let sequence = 0
  for (const url of [...urls, ...urls]) {
    const { text, headers } = await waitUntil(() => getReply(`${url}/prices?linearizable=true&sequence=${sequence}`))
    sequence = Math.max(sequence, Number(headers.get('sequence')))
    catalogs.push(text)
  }
  const [catalog] = catalogs
  for (const one of catalogs) expect(one === catalog).toBe(true)
  const prices = pricesIn(catalog!)
  const valueOf = new Map(prices.map(({ id, value }) => [id, value]))
  process.stdout.write(
    `${JSON.stringify({ acknowledged: known.acknowledged, unknown: known.unknown, refused: known.refused.size, imports: imports.length, looks: seen.length })}\n`,
  )
  const ids = Array.from({ length: PUTTERS * IDS }, (_, i) => idOf(Math.floor(i / IDS) * 100 + (i % IDS)))
  const wrong = ids.flatMap((id) => findWrongValue(known.changes.get(id) ?? [], valueOf.get(id)) ?? [])
  expect(wrong).toEqual([])
  expect(findWrongValue(imports, importOf(prices))).toBeUndefined()
  // Refused values were never visible.
  expect([...prices.map(({ value }) => value), ...seen].filter((value) => known.refused.has(value!))).toEqual([])
  // The clients made progress.
  expect(known.acknowledged).toBeGreaterThan(50)
  expect(new Set(seen).size).toBeGreaterThan(3)
})

import { createKvClient } from '@influencer-stats/kv/client'
import { isLinearizable } from '@influencer-stats/kv/testing/linearizable'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { SeededRandom } from '../random.ts'
import { createRecord, runClient, type ClientRecord } from './cluster-clients.ts'
import type { ChaosCluster } from './cluster.ts'
import { hasGo, checkWithPorcupine } from './porcupine.ts'

const CLIENTS = 12
const REGISTERS = 12

/**
 * Runs a function while clients use all nodes of kv, and then checks the observations of the clients: no acknowledged
 * write is lost, some order of the operations explains all results, and the nodes have equal data.
 * @param run receives a function that begins a new phase, in which clients use new registers
 */
export async function checkUnderClients(
  cluster: ChaosCluster,
  random: SeededRandom,
  run: (phase: () => void) => Promise<void>,
): Promise<void> {
  const urls = cluster.nodes.map(({ url }) => url)
  const record = createRecord()
  const stopping = new AbortController()
  let phase = 0
  // Each phase has new registers, so the histories stay short enough for the check.
  const registers = () => Array.from({ length: REGISTERS }, (_, i) => `register/${phase}/${i}`)
  const working = Promise.all(
    Array.from({ length: CLIENTS }, (_, i) =>
      runClient(urls, String(i), random.part(`client ${i}`), registers, record, stopping.signal),
    ),
  )
  try {
    await run(() => phase++)
  } finally {
    stopping.abort()
    await working
  }
  process.stdout.write(`${JSON.stringify(Object.fromEntries(record.outcomes))}\n`)
  await expectEqualData(urls)
  await expectCorrectHistories(urls[0]!, record)
  // The clients made progress.
  expect(record.outcomes.get('counted')).toBeGreaterThan(20)
  expect(record.histories.size).toBeGreaterThan(REGISTERS)
}

/** Checks that all nodes have equal data. */
async function expectEqualData(urls: readonly string[]): Promise<void> {
  const sequence = await waitUntil(() => writeAndGetSequence(urls[0]!).catch(() => undefined))
  const digests = await Promise.all(urls.map((url) => waitUntil(() => getDigest(url, sequence).catch(() => undefined))))
  expect(new Set(digests).size).toBe(1)
}

/** Writes a value. @returns the sequence of its entry in the log */
async function writeAndGetSequence(url: string): Promise<string | null> {
  const { headers } = await fetch(`${url}/v0/entity?id=end`, {
    method: 'PUT',
    headers: { 'content-type': 'text/plain' },
  })
  return headers.get('sequence')
}

/** Returns a hash of all data of a node, once it has applied the sequence `after`. */
async function getDigest(url: string, after: string): Promise<string> {
  const reply = await fetch(`${url}/v0/entities?start=%00&linearizable=true&after=${after}`)
  if (reply.status !== 200) throw new Error(`status ${reply.status}`)
  return createHash('sha256')
    .update(Buffer.from(await reply.arrayBuffer()))
    .digest('hex')
}

/** Checks that the counters have the right values, and that some order of the operations explains each history. */
async function expectCorrectHistories(url: string, { counters, histories }: ClientRecord): Promise<void> {
  const client = createKvClient(url)
  const wrong: string[] = []
  try {
    for (const [key, { done, unknown }] of counters) {
      const value = Number((await client.get(key, { linearizable: true }))?.value ?? 0)
      if (value < done || value > done + unknown) wrong.push(`${key} is ${value}: ${done} to ${done + unknown}`)
    }
  } finally {
    await client.close()
  }
  for (const [key, history] of histories)
    if (!isLinearizable(history)) wrong.push(`no order of the operations explains ${key}`)
  const verdicts = hasGo ? await checkWithPorcupine([...histories.values()]) : []
  for (const [i, key] of [...histories.keys()].entries())
    if (hasGo && verdicts[i] !== 'Ok') wrong.push(`porcupine returns ${verdicts[i]} for ${key}`)
  process.stdout.write(
    hasGo
      ? `${histories.size} histories also checked by porcupine\n`
      : `${histories.size} histories checked only by the checker of this project; porcupine requires Go\n`,
  )
  expect(wrong).toEqual([])
}

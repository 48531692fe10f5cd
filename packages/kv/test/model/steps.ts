import { setTimeout as delay } from 'node:timers/promises'
import { neighborOf } from './keys.ts'
import {
  anyBatch,
  anyChange,
  anyExpiryOperation,
  anyGetMany,
  anyKeyOf,
  anyRange,
  anyRead,
  putLine,
} from './operation-source.ts'
import type { Batch, Delete, Operation, Put, Range } from './operations.ts'
import { anyRefused } from './refused.ts'
import type { SpaceClient } from './space-client.ts'
import { anyValue } from './values.ts'

type Step = (client: SpaceClient) => Promise<unknown>

/**
 * Sends changes and reads of two keys in turn (PUT, GET, PUT, GET, DELETE, GET) in one write. The server executes them in
 * order.
 */
const pipeline: Step = (client) => {
  const { context, random } = client
  const keys = [anyKeyOf(context), anyKeyOf(context)]
  const operations = Array.from({ length: random.between(2, 10) }, (_, i): Operation => {
    const key = random.pick(keys)
    if (random.percent(8)) return anyBatch(context)
    if (random.percent(5)) return anyRange(context)
    return i % 2 === 0 ? anyChange(context, key) : anyRead(context, key)
  })
  return client.pipeline(operations)
}

const respondAsync: Step = (client) => {
  const { context, random } = client
  const key = anyKeyOf(context)
  const operation: Put = { type: 'put', key, value: anyValue(random), prefersAsync: true }
  const reads = Array.from({ length: random.below(3) }, () => anyRead(context, key))
  return client.putAsync(operation, reads, { type: 'put', key: anyKeyOf(context), value: anyValue(random) })
}

const MAX_PROBE_MS = 150

/** Writes values that expire in a moment, and reads them until they have expired, and a little longer. */
const probeExpiry: Step = async (client) => {
  const { context, random } = client
  const expiresAt = Date.now() + random.between(5, MAX_PROBE_MS)
  const keys = Array.from({ length: random.between(1, 4) }, () => anyKeyOf(context))
  await client.perform({ type: 'batch', lines: keys.map((key) => putLine(random, key, { expiresAt })) })
  while (Date.now() < expiresAt + 40) {
    const key = random.pick(keys)
    const kind = random.below(20)
    if (kind === 0) await client.perform({ type: 'put', key, value: anyValue(random), ifNoneMatch: '*' })
    else if (kind === 1) await client.perform({ type: 'delete', key, ifMatch: '*' })
    else if (kind === 2) await client.perform(anyGetMany(client.context))
    else if (kind === 3) await client.perform({ type: 'get-expiry', key })
    else if (kind < 8) await client.perform(anyRange(client.context))
    else await client.perform(anyRead(client.context, key))
    await delay(random.below(6))
  }
}

let idempotencyKeys = 0

/** Sends a request with an idempotency key, its repetitions, and other requests with the same key. */
const repeat: Step = async (client) => {
  const { context, random } = client
  const idempotencyKey = `${client.name}-${++idempotencyKeys}`
  const change = (): Put | Delete | Batch => {
    const any = random.percent(25) ? anyBatch(client.context) : anyChange(client.context)
    if (any.type === 'put' && any.value.length > 2_000) return { ...any, value: anyValue(random).subarray(0, 2_000) }
    return any
  }
  const first = { ...change(), idempotencyKey }
  await client.perform(first)
  for (let i = random.below(3); i > 0; i--) {
    if (random.percent(50)) await client.perform(anyChange(client.context, anyKeyOf(context)))
    const other = { ...change(), idempotencyKey }
    await client.perform(random.percent(25) ? other : first)
  }
}

/** Reads keys in growing, shrinking or no order of length. A read buffer still holds bytes of an earlier, longer key. */
const sweep: Step = async (client) => {
  const { context, random } = client
  const keys = [...context.pool, ...context.space.keys].filter(() => random.percent(30))
  const order = random.below(3)
  if (order < 2) keys.sort((a, b) => (Buffer.byteLength(a) - Buffer.byteLength(b)) * (order === 0 ? 1 : -1))
  for (const key of keys) await client.perform({ type: 'get', key })
}

/** Writes a key and reads its neighbors, with the last character removed or one character added. */
const neighbors: Step = async (client) => {
  const { context, random, prefix } = client
  const key = anyKeyOf(context)
  await client.perform({ type: 'put', key, value: anyValue(random) })
  for (let other = key, i = 0; i < 3; i++) {
    other = neighborOf(random, other, prefix)
    await client.perform({ type: 'get', key: other })
  }
}

const MAX_PAGES = 40

/** Reads a range in pages, each after the cursor of the previous page. */
const pages: Step = async (client) => {
  const { random } = client
  let range: Range = {
    ...anyRange(client.context),
    limit: random.between(1, 10),
    output: random.pick(['ndjson', 'keys']),
  }
  for (let page = 0; page < MAX_PAGES; page++) {
    const next = (await client.perform(range)).headers.get('next')
    if (next === undefined) return
    range = { ...range, cursor: decodeURIComponent(next) }
  }
}

/** Step with its relative frequency. `isTimed` is true if it needs values that expire or idempotency keys. */
type WeightedStep = readonly [weight: number, step: Step, isTimed?: boolean]

const WEIGHTED: readonly WeightedStep[] = [
  [30, (client) => client.perform(anyChange(client.context))],
  [25, (client) => client.perform(anyRead(client.context))],
  [10, (client) => client.perform(anyBatch(client.context))],
  [10, (client) => client.perform(anyRange(client.context))],
  [6, (client) => client.perform(anyGetMany(client.context))],
  [3, pages],
  [6, (client) => client.perform(anyExpiryOperation(client.context)), true],
  [3, (client) => client.perform(anyRefused(client.random))],
  [8, pipeline],
  [4, respondAsync],
  [2, probeExpiry, true],
  [4, repeat, true],
  [2, sweep],
  [4, neighbors],
]

/** Takes one random step. @throws Difference, ConnectionLost */
export function takeStep(client: SpaceClient): Promise<unknown> {
  const steps = WEIGHTED.filter(([, , isTimed]) => client.isTimed || !isTimed)
  let at = client.random.below(steps.reduce((sum, [weight]) => sum + weight, 0))
  return steps.find(([weight]) => (at -= weight) < 0)![1](client)
}

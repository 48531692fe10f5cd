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

/** What a client does next. */
type Step = (client: SpaceClient) => Promise<unknown>

/** PUT, GET, PUT, GET, DELETE, GET of few keys in one write: the server executes them in this order. */
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

/** Values that expire in a moment, which readers ask for until they have expired, and a little longer. */
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

/** A request with an idempotency key, its repetitions, and another request with the same key. */
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

/** Reads of keys that grow, shrink, or are in no order: a read buffer keeps what was longer before. */
const sweep: Step = async (client) => {
  const { context, random } = client
  const keys = [...context.pool, ...context.space.keys].filter(() => random.percent(30))
  const order = random.below(3)
  if (order < 2) keys.sort((a, b) => (Buffer.byteLength(a) - Buffer.byteLength(b)) * (order === 0 ? 1 : -1))
  for (const key of keys) await client.perform({ type: 'get', key })
}

/** A key and its neighbors, which differ in the last character. */
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

/** A range in pages, each behind the cursor that the one before gave. */
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

/** A step, how often it is taken, and whether it begins with values that expire or with idempotency keys. */
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

/** One random step. @throws Difference, ConnectionLost */
export function takeStep(client: SpaceClient): Promise<unknown> {
  const steps = WEIGHTED.filter(([, , isTimed]) => client.isTimed || !isTimed)
  let at = client.random.below(steps.reduce((sum, [weight]) => sum + weight, 0))
  return steps.find(([weight]) => (at -= weight) < 0)![1](client)
}

import { setTimeout as delay } from 'node:timers/promises'
import { generateNeighbor } from './keys.ts'
import {
  generateBatch,
  generateChange,
  generateExpiryOperation,
  generateGetMany,
  pickKey,
  generateRange,
  generateRead,
  generatePutLine,
} from './operation-source.ts'
import type { ModelBatch, ModelDelete, ModelOperation, ModelPut, ModelRange } from './operations.ts'
import { pickRefused } from './refused-requests.ts'
import type { SpaceClient } from './space-client.ts'
import { generateValue } from './values.ts'

type ClientStep = (client: SpaceClient) => Promise<unknown>

/**
 * Sends changes and reads of two keys in turn (PUT, GET, PUT, GET, DELETE, GET) in one write. The server executes them in
 * order.
 */
const runPipeline: ClientStep = (client) => {
  const { context, random } = client
  const keys = [pickKey(context), pickKey(context)]
  const operations = Array.from({ length: random.between(2, 10) }, (_, i): ModelOperation => {
    const key = random.pick(keys)
    if (random.percent(8)) return generateBatch(context)
    if (random.percent(5)) return generateRange(context)
    return i % 2 === 0 ? generateChange(context, key) : generateRead(context, key)
  })
  return client.runPipeline(operations)
}

const runRespondAsync: ClientStep = (client) => {
  const { context, random } = client
  const key = pickKey(context)
  const operation: ModelPut = { type: 'put', key, value: generateValue(random), prefersAsync: true }
  const reads = Array.from({ length: random.below(3) }, () => generateRead(context, key))
  return client.putAsync(operation, reads, { type: 'put', key: pickKey(context), value: generateValue(random) })
}

const MAX_PROBE_MS = 150

/** Writes values that expire in a moment, and reads them until they have expired, and a little longer. */
const probeExpiry: ClientStep = async (client) => {
  const { context, random } = client
  const expiresAt = Date.now() + random.between(5, MAX_PROBE_MS)
  const keys = Array.from({ length: random.between(1, 4) }, () => pickKey(context))
  await client.runOperation({ type: 'batch', lines: keys.map((key) => generatePutLine(random, key, { expiresAt })) })
  while (Date.now() < expiresAt + 40) {
    const key = random.pick(keys)
    const kind = random.below(20)
    if (kind === 0) await client.runOperation({ type: 'put', key, value: generateValue(random), ifNoneMatch: '*' })
    else if (kind === 1) await client.runOperation({ type: 'delete', key, ifMatch: '*' })
    else if (kind === 2) await client.runOperation(generateGetMany(client.context))
    else if (kind === 3) await client.runOperation({ type: 'get-expiry', key })
    else if (kind < 8) await client.runOperation(generateRange(client.context))
    else await client.runOperation(generateRead(client.context, key))
    await delay(random.below(6))
  }
}

let idempotencyKeys = 0

/** Sends a request with an idempotency key, its repetitions, and other requests with the same key. */
const repeatChange: ClientStep = async (client) => {
  const { context, random } = client
  const idempotencyKey = `${client.name}-${++idempotencyKeys}`
  const change = (): ModelPut | ModelDelete | ModelBatch => {
    const hasValue = random.percent(25) ? generateBatch(client.context) : generateChange(client.context)
    if (hasValue.type === 'put' && hasValue.value.length > 2_000)
      return { ...hasValue, value: generateValue(random).subarray(0, 2_000) }
    return hasValue
  }
  const first = { ...change(), idempotencyKey }
  await client.runOperation(first)
  for (let i = random.below(3); i > 0; i--) {
    if (random.percent(50)) await client.runOperation(generateChange(client.context, pickKey(context)))
    const other = { ...change(), idempotencyKey }
    await client.runOperation(random.percent(25) ? other : first)
  }
}

/** Reads keys in growing, shrinking or no order of length. A read buffer still holds bytes of an earlier, longer key. */
const sweepKeys: ClientStep = async (client) => {
  const { context, random } = client
  const keys = [...context.pool, ...context.space.keys].filter(() => random.percent(30))
  const order = random.below(3)
  if (order < 2) keys.sort((a, b) => (Buffer.byteLength(a) - Buffer.byteLength(b)) * (order === 0 ? 1 : -1))
  for (const key of keys) await client.runOperation({ type: 'get', key })
}

/** Writes a key and reads its neighbors, with the last character removed or one character added. */
const readNeighbors: ClientStep = async (client) => {
  const { context, random, prefix } = client
  const key = pickKey(context)
  await client.runOperation({ type: 'put', key, value: generateValue(random) })
  for (let other = key, i = 0; i < 3; i++) {
    other = generateNeighbor(random, other, prefix)
    await client.runOperation({ type: 'get', key: other })
  }
}

const MAX_PAGES = 40

/** Reads a range in pages, each after the cursor of the previous page. */
const readPages: ClientStep = async (client) => {
  const { random } = client
  let range: ModelRange = {
    ...generateRange(client.context),
    limit: random.between(1, 10),
    output: random.pick(['ndjson', 'keys']),
  }
  for (let page = 0; page < MAX_PAGES; page++) {
    const next = (await client.runOperation(range)).headers.get('next')
    if (next === undefined) return
    range = { ...range, cursor: decodeURIComponent(next) }
  }
}

/** Step with its relative frequency. `isTimed` is true if it needs values that expire or idempotency keys. */
type WeightedStep = readonly [weight: number, step: ClientStep, isTimed?: boolean]

const WEIGHTED_STEPS: readonly WeightedStep[] = [
  [30, (client) => client.runOperation(generateChange(client.context))],
  [25, (client) => client.runOperation(generateRead(client.context))],
  [10, (client) => client.runOperation(generateBatch(client.context))],
  [10, (client) => client.runOperation(generateRange(client.context))],
  [6, (client) => client.runOperation(generateGetMany(client.context))],
  [3, readPages],
  [6, (client) => client.runOperation(generateExpiryOperation(client.context)), true],
  [3, (client) => client.runOperation(pickRefused(client.random))],
  [8, runPipeline],
  [4, runRespondAsync],
  [2, probeExpiry, true],
  [4, repeatChange, true],
  [2, sweepKeys],
  [4, readNeighbors],
]

/** Takes one random step. @throws Difference, ConnectionLost */
export function runRandomStep(client: SpaceClient): Promise<unknown> {
  const steps = WEIGHTED_STEPS.filter(([, , isTimed]) => client.isTimed || !isTimed)
  let at = client.random.below(steps.reduce((sum, [weight]) => sum + weight, 0))
  return steps.find(([weight]) => (at -= weight) < 0)![1](client)
}

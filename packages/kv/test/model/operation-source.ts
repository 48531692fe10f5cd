import { isUtf8 } from 'node:buffer'
import { generateBadLine } from './bad-lines.ts'
import { generateNeighbor } from './keys.ts'
import type {
  ModelBatch,
  BatchLine,
  Conditions,
  ConditionTags,
  ModelDelete,
  GetExpiry,
  ModelGetMany,
  ModelPut,
  ModelRange,
  ModelRead,
  SetExpiry,
} from './operations.ts'
import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import type { KeySpace } from './key-space.ts'
import { generateValue } from './values.ts'

/** Inputs for random operations. */
export interface OperationContext {
  readonly random: SeededRandom
  /** Prefix of all keys of the client. */
  readonly prefix: string
  /** First key after those of the client. */
  readonly end: string
  readonly pool: readonly string[]
  readonly space: KeySpace
  /** True if values may expire. */
  readonly isTimed: boolean
  /** ETags that values had, including current ones. */
  readonly etags: readonly string[]
}

/** Returns a key of the pool, a key with a value, or a neighbor of a key with a value. */
export function pickKey({ random, space, pool, prefix }: OperationContext): string {
  const chance = random.below(100)
  if (chance < 45 || space.entries.size === 0) return random.pick(pool)
  const key = random.pick(space.keys)
  return chance < 85 ? key : generateNeighbor(random, key, prefix)
}

function generateTags(context: OperationContext, key: string): ConditionTags {
  const { random, space, etags } = context
  if (random.percent(25)) return '*'
  const tag = () => {
    const current = space.entries.get(key)?.write.etag
    if (current !== undefined && random.percent(50)) return current
    return etags.length > 0 && random.percent(80) ? random.pick(etags) : '"none"'
  }
  return Array.from({ length: random.between(1, 3) }, () => ({ tag: tag(), isWeak: random.percent(15) }))
}

function generateConditions(context: OperationContext, key: string, share: number): Conditions {
  const { random } = context
  if (!random.percent(share)) return {}
  const kind = random.below(10)
  return {
    ...((kind < 5 || kind === 9) && { ifMatch: generateTags(context, key) }),
    ...(kind >= 5 && { ifNoneMatch: generateTags(context, key) }),
  }
}

export function generateRead(context: OperationContext, key = pickKey(context)): ModelRead {
  const type = context.random.percent(80) ? 'get' : 'head'
  return { type, key, ...generateConditions(context, key, 25) }
}

export function generateChange(context: OperationContext, key = pickKey(context)): ModelPut | ModelDelete {
  const { random } = context
  const rest = { key, ...generateConditions(context, key, 30), ...(random.percent(5) && { durable: true }) }
  if (random.percent(25)) return { type: 'delete', ...rest }
  return {
    type: 'put',
    ...rest,
    value: generateValue(random),
    ...(context.isTimed && random.percent(10) && { ttl: random.between(1, 2) }),
  }
}

/** Returns the expiry of a batch line: in the past, soon, late or never. */
function generateExpiry(random: SeededRandom): { ttl?: number; expiresAt?: number } {
  const kind = random.below(10)
  if (kind === 0) return { ttl: random.between(1, 3) }
  if (kind === 1) return { expiresAt: Date.now() + random.between(-2_000, 400) }
  return kind === 2 ? { expiresAt: Date.now() + 1_000_000 } : {}
}

/** Returns an expiry: after some seconds, within a moment of now, late or never. */
function generateTime<Never>(random: SeededRandom, never: Never): { ttl: number } | { expiresAt: number | Never } {
  const kind = random.below(4)
  if (kind === 0) return { ttl: random.between(1, 3) }
  if (kind === 1) return { expiresAt: never }
  return { expiresAt: Date.now() + (kind === 2 ? random.between(-500, 500) : 1_000_000) }
}

export function generateExpiryOperation(context: OperationContext): SetExpiry | GetExpiry {
  const { random } = context
  const key = pickKey(context)
  if (random.percent(40)) return { type: 'get-expiry', key }
  return { type: 'set-expiry', key, ...generateConditions(context, key, 25), ...generateTime(random, undefined) }
}

export function generatePutLine(
  random: SeededRandom,
  id: string,
  expiry: { ttl?: number; expiresAt?: number },
): BatchLine {
  const value = generateValue(random)
  return { op: 'put', id, value, isBase64: !isUtf8(value) || random.percent(30), ...expiry }
}

export function generateBatch(context: OperationContext): ModelBatch {
  const { random } = context
  const lines = Array.from({ length: random.between(1, 8) }, (): BatchLine => {
    const id = pickKey(context)
    const kind = random.below(10)
    if (kind === 0 && context.isTimed) return { op: 'expire', id, ...generateTime(random, null) }
    return kind < 4 ? { op: 'delete', id } : generatePutLine(random, id, context.isTimed ? generateExpiry(random) : {})
  })
  const more = { ...(random.percent(5) && { durable: true }), ...generateConditions(context, lines[0]!.id, 4) }
  return {
    type: 'batch',
    lines,
    ...more,
    ...(random.percent(12) && { badLine: generateBadLine(random, lines.length) }),
  }
}

/** Returns a range of the client's keys. */
export function generateRange(context: OperationContext): ModelRange {
  const { random, prefix, end } = context
  const bound = () => pickKey(context)
  const bounds = random.percent(25)
    ? { prefix: random.percent(30) ? prefix : cutKey(random, bound(), prefix) }
    : { start: random.percent(30) ? prefix : bound(), end: random.percent(40) ? end : bound() }
  return {
    type: 'range',
    ...bounds,
    ...(random.percent(15) && { cursor: bound() }),
    ...(random.percent(40) && { limit: random.between(1, 12) }),
    ...(random.percent(30) && { reverse: true }),
    output: random.pick(['ndjson', 'ndjson', 'chunks', 'chunks', 'keys', 'count']),
  }
}

/** Returns the first characters of a key, at least those of the client's prefix. */
function cutKey(random: SeededRandom, key: string, prefix: string): string {
  const characters = [...key]
  return characters.slice(0, random.between([...prefix].length, characters.length)).join('')
}

export function generateGetMany(context: OperationContext): ModelGetMany {
  const { random } = context
  return { type: 'get-many', ids: Array.from({ length: random.between(1, 30) }, () => pickKey(context)) }
}

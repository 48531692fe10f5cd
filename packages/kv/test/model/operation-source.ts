import { isUtf8 } from 'node:buffer'
import { anyBadLine } from './bad-lines.ts'
import { neighborOf } from './keys.ts'
import type {
  Batch,
  BatchLine,
  Conditions,
  ConditionTags,
  Delete,
  GetExpiry,
  GetMany,
  Put,
  Range,
  Read,
  SetExpiry,
} from './operations.ts'
import type { Random } from './random.ts'
import type { Space } from './space.ts'
import { anyValue } from './values.ts'

/** Inputs for random operations. */
export interface OperationContext {
  readonly random: Random
  /** Prefix of all keys of the client. */
  readonly prefix: string
  /** First key after those of the client. */
  readonly end: string
  readonly pool: readonly string[]
  readonly space: Space
  /** True if values may expire. */
  readonly isTimed: boolean
  /** ETags that values had, including current ones. */
  readonly etags: readonly string[]
}

/** Returns a key of the pool, a key with a value, or a neighbor of a key with a value. */
export function anyKeyOf({ random, space, pool, prefix }: OperationContext): string {
  const chance = random.below(100)
  if (chance < 45 || space.entries.size === 0) return random.pick(pool)
  const key = random.pick(space.keys)
  return chance < 85 ? key : neighborOf(random, key, prefix)
}

function anyTags(context: OperationContext, key: string): ConditionTags {
  const { random, space, etags } = context
  if (random.percent(25)) return '*'
  const tag = () => {
    const current = space.entries.get(key)?.write.etag
    if (current !== undefined && random.percent(50)) return current
    return etags.length > 0 && random.percent(80) ? random.pick(etags) : '"none"'
  }
  return Array.from({ length: random.between(1, 3) }, () => ({ tag: tag(), isWeak: random.percent(15) }))
}

function anyConditions(context: OperationContext, key: string, share: number): Conditions {
  const { random } = context
  if (!random.percent(share)) return {}
  const kind = random.below(10)
  return {
    ...((kind < 5 || kind === 9) && { ifMatch: anyTags(context, key) }),
    ...(kind >= 5 && { ifNoneMatch: anyTags(context, key) }),
  }
}

export function anyRead(context: OperationContext, key = anyKeyOf(context)): Read {
  const type = context.random.percent(80) ? 'get' : 'head'
  return { type, key, ...anyConditions(context, key, 25) }
}

export function anyChange(context: OperationContext, key = anyKeyOf(context)): Put | Delete {
  const { random } = context
  const rest = { key, ...anyConditions(context, key, 30), ...(random.percent(5) && { durable: true }) }
  if (random.percent(25)) return { type: 'delete', ...rest }
  return {
    type: 'put',
    ...rest,
    value: anyValue(random),
    ...(context.isTimed && random.percent(10) && { ttl: random.between(1, 2) }),
  }
}

/** Returns the expiry of a batch line: in the past, soon, late or never. */
function anyExpiry(random: Random): { ttl?: number; expiresAt?: number } {
  const kind = random.below(10)
  if (kind === 0) return { ttl: random.between(1, 3) }
  if (kind === 1) return { expiresAt: Date.now() + random.between(-2_000, 400) }
  return kind === 2 ? { expiresAt: Date.now() + 1_000_000 } : {}
}

/** Returns an expiry: after some seconds, within a moment of now, late or never. */
function anyTime<Never>(random: Random, never: Never): { ttl: number } | { expiresAt: number | Never } {
  const kind = random.below(4)
  if (kind === 0) return { ttl: random.between(1, 3) }
  if (kind === 1) return { expiresAt: never }
  return { expiresAt: Date.now() + (kind === 2 ? random.between(-500, 500) : 1_000_000) }
}

export function anyExpiryOperation(context: OperationContext): SetExpiry | GetExpiry {
  const { random } = context
  const key = anyKeyOf(context)
  if (random.percent(40)) return { type: 'get-expiry', key }
  return { type: 'set-expiry', key, ...anyConditions(context, key, 25), ...anyTime(random, undefined) }
}

export function putLine(random: Random, id: string, expiry: { ttl?: number; expiresAt?: number }): BatchLine {
  const value = anyValue(random)
  return { op: 'put', id, value, isBase64: !isUtf8(value) || random.percent(30), ...expiry }
}

export function anyBatch(context: OperationContext): Batch {
  const { random } = context
  const lines = Array.from({ length: random.between(1, 8) }, (): BatchLine => {
    const id = anyKeyOf(context)
    const kind = random.below(10)
    if (kind === 0 && context.isTimed) return { op: 'expire', id, ...anyTime(random, null) }
    return kind < 4 ? { op: 'delete', id } : putLine(random, id, context.isTimed ? anyExpiry(random) : {})
  })
  const more = { ...(random.percent(5) && { durable: true }), ...anyConditions(context, lines[0]!.id, 4) }
  return { type: 'batch', lines, ...more, ...(random.percent(12) && { badLine: anyBadLine(random, lines.length) }) }
}

/** Returns a range of the client's keys. */
export function anyRange(context: OperationContext): Range {
  const { random, prefix, end } = context
  const bound = () => anyKeyOf(context)
  const bounds = random.percent(25)
    ? { prefix: random.percent(30) ? prefix : cut(random, bound(), prefix) }
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
function cut(random: Random, key: string, prefix: string): string {
  const characters = [...key]
  return characters.slice(0, random.between([...prefix].length, characters.length)).join('')
}

export function anyGetMany(context: OperationContext): GetMany {
  const { random } = context
  return { type: 'get-many', ids: Array.from({ length: random.between(1, 30) }, () => anyKeyOf(context)) }
}

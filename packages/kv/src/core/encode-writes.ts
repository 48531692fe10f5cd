import type { EntityTags } from '@influencer-stats/runtime/conditions'
import type { WriteCondition } from './write-condition.ts'
import type { Op } from './change-lines.ts'

// Encoding of an entry of kind 1 of the log: a list of writes.
//   write  u8 flags (1 match, 2 none-match, 4 idempotency key), tags of each, the key as a tag, u32 count of ops
//   tags   u16 count (0xffff: any), then for each tag u16 length and its bytes
//   op     u8 type (0 delete, 1 put, 2 put with a ttl, 3 put with a time of expiry; without a value: 4 expire after a ttl,
//          5 expire at a time, 6 never expire), u16 length of the key, u32 length of the value, for types 2 to 5 u48 ms, and the
//          bytes of key and value
// A node that reads an unknown flag or type stops.

/** Kind of an entry with writes. */
export const WRITES_KIND = 1
/** Kind of an entry without a body that removes some of the expired keys. */
export const EXPIRE_KIND = 2

/** Changes that take effect together or not at all, if the condition holds for the key of the first change. */
export interface LoggedWrite {
  readonly ops: readonly Op[]
  readonly condition?: WriteCondition
  /** A second write with the same key has no effect, for `IDEMPOTENCY_TTL_MS`. */
  readonly idempotencyKey?: string
  /** True if the write has an idempotency key or an expiry. Code tests this flag instead of every operation. */
  readonly isSpecial?: boolean
}

const MATCH_FLAG = 1
const NONE_MATCH_FLAG = 2
const IDEMPOTENCY_KEY_FLAG = 4
const ANY_TAG = 0xffff

const DELETE_OP = 0
const PUT_OP = 1
const PUT_TTL_OP = 2
const PUT_EXPIRES_AT_OP = 3
const EXPIRE_TTL_OP = 4
const EXPIRE_AT_OP = 5
const PERSIST_OP = 6
const TIME_BYTES = 6

/** Writes of a newer version, which this version cannot decode. */
export class UnknownWritesError extends Error {}

function toOpCode(op: Op): number {
  if (op.type === 'del') return DELETE_OP
  const isPut = op.type === 'put'
  if (op.ttl !== undefined) return isPut ? PUT_TTL_OP : EXPIRE_TTL_OP
  if (op.expiresAt !== undefined) return isPut ? PUT_EXPIRES_AT_OP : EXPIRE_AT_OP
  return isPut ? PUT_OP : PERSIST_OP
}

const hasTime = (type: number) => type > PUT_OP && type < PERSIST_OP

const getTagsSize = (tags: EntityTags) => (tags === '*' ? 2 : tags.reduce((sum, tag) => sum + 2 + tag.length, 2))

function getWriteSize({ ops, condition, idempotencyKey }: LoggedWrite): number {
  let size = 5
  if (condition?.match) size += getTagsSize(condition.match)
  if (condition?.noneMatch) size += getTagsSize(condition.noneMatch)
  if (idempotencyKey !== undefined) size += 2 + idempotencyKey.length
  for (const op of ops) {
    size += 7 + op.key.length + (op.type === 'put' ? op.value.length : 0)
    if (hasTime(toOpCode(op))) size += TIME_BYTES
  }
  return size
}

export function encodeWrites(writes: readonly LoggedWrite[]): Buffer {
  // Not from the pool: a transfer to another thread includes the whole memory of a Buffer.
  const bytes = Buffer.allocUnsafeSlow(writes.reduce((sum, write) => sum + getWriteSize(write), 0))
  let at = 0
  function putTags(tags: EntityTags): void {
    at = bytes.writeUInt16BE(tags === '*' ? ANY_TAG : tags.length, at)
    if (tags === '*') return
    for (const tag of tags) putText(tag)
  }
  function putText(text: string): void {
    at = bytes.writeUInt16BE(text.length, at)
    at += bytes.write(text, at, 'latin1')
  }
  for (const { ops, condition, idempotencyKey } of writes) {
    const name = idempotencyKey === undefined ? 0 : IDEMPOTENCY_KEY_FLAG
    at = bytes.writeUInt8((condition?.match ? MATCH_FLAG : 0) | (condition?.noneMatch ? NONE_MATCH_FLAG : 0) | name, at)
    if (condition?.match) putTags(condition.match)
    if (condition?.noneMatch) putTags(condition.noneMatch)
    if (idempotencyKey !== undefined) putText(idempotencyKey)
    at = bytes.writeUInt32BE(ops.length, at)
    for (const op of ops) {
      const value = op.type === 'put' ? op.value : undefined
      const type = toOpCode(op)
      at = bytes.writeUInt8(type, at)
      at = bytes.writeUInt16BE(op.key.length, at)
      at = bytes.writeUInt32BE(value?.length ?? 0, at)
      if (hasTime(type) && op.type !== 'del') at = bytes.writeUIntBE((op.ttl ?? op.expiresAt)!, at, TIME_BYTES)
      bytes.set(op.key, at)
      at += op.key.length
      if (value) bytes.set(value, at)
      at += value?.length ?? 0
    }
  }
  return bytes
}

/** Decodes writes. Keys and values are parts of `bytes`, not copies. @throws RangeError if cut, UnknownWritesError */
export function decodeWrites(bytes: Buffer): LoggedWrite[] {
  let at = 0
  let isSpecial = false
  function readBytes(length: number): Buffer {
    if (at + length > bytes.length) throw new RangeError('an entry of writes is truncated')
    return bytes.subarray(at, (at += length))
  }
  const readText = () => readBytes(readBytes(2).readUInt16BE()).toString('latin1')
  function readTags(): EntityTags {
    const count = readBytes(2).readUInt16BE()
    return count === ANY_TAG ? '*' : Array.from({ length: count }, readText)
  }
  function readOp(): Op {
    const type = readBytes(1).readUInt8()
    if (type > PERSIST_OP) throw new UnknownWritesError('contains a kind of change that this version does not know')
    const keyLength = readBytes(2).readUInt16BE()
    const valueLength = readBytes(4).readUInt32BE()
    if (type <= PUT_OP) {
      const key = readBytes(keyLength)
      return type === PUT_OP ? { type: 'put', key, value: readBytes(valueLength) } : { type: 'del', key }
    }
    isSpecial = true
    if (type === PERSIST_OP) return { type: 'expire', key: readBytes(keyLength) }
    const time = readBytes(TIME_BYTES).readUIntBE(0, TIME_BYTES)
    const expiry = type === PUT_TTL_OP || type === EXPIRE_TTL_OP ? { ttl: time } : { expiresAt: time }
    const key = readBytes(keyLength)
    return type > PUT_EXPIRES_AT_OP
      ? { type: 'expire', key, ...expiry }
      : { type: 'put', key, value: readBytes(valueLength), ...expiry }
  }
  const writes: LoggedWrite[] = []
  while (at < bytes.length) {
    const has = readBytes(1).readUInt8()
    if (has >= 2 * IDEMPOTENCY_KEY_FLAG)
      throw new UnknownWritesError('contains a kind of write that this version does not know')
    const match = has & MATCH_FLAG ? readTags() : undefined
    const noneMatch = has & NONE_MATCH_FLAG ? readTags() : undefined
    const idempotencyKey = has & IDEMPOTENCY_KEY_FLAG ? readText() : undefined
    isSpecial = idempotencyKey !== undefined
    const ops = Array.from({ length: readBytes(4).readUInt32BE() }, readOp)
    const condition = match || noneMatch ? { ...(match && { match }), ...(noneMatch && { noneMatch }) } : undefined
    writes.push({
      ops,
      ...(condition && { condition }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(isSpecial && { isSpecial }),
    })
  }
  return writes
}

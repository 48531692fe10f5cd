import type { EntityTags } from '@influencer-stats/runtime/conditions'
import type { WriteCondition } from './write-condition.ts'
import type { Op } from './change-lines.ts'

// Encoding of an entry of kind 1 of the log: a list of writes. Numbers are big-endian.
//   write  u8 flags (1: If-Match, 2: If-None-Match, 4: idempotency key), the tags of each present condition, the
//          idempotency key if present (u16 length and its bytes), u32 number of changes, the changes
//   tags   u16 number of tags (0xffff: `*`), then u16 length and the bytes of each tag
//   change u8 type, u16 length of the key, u32 length of the value, u48 time (types 2 to 5), the key, the value (types 1
//          to 3). Type 0: delete; 1: put; 2: put with a time to expiry (ms); 3: put with an expiry time (ms since 1970);
//          4: set the time to expiry; 5: set the expiry time; 6: remove the expiry
// A node that reads an unknown flag or type stops.

// Kinds of log entries.
/** Writes. */
export const WRITES_KIND = 1
/** Removal of some expired keys. The entry has no body: each node finds the keys by the time of the entry. */
export const EXPIRE_KIND = 2

/** Changes that take effect together or not at all, if the condition holds for the key of the first change. */
export interface LoggedWrite {
  readonly ops: readonly Op[]
  readonly condition?: WriteCondition
  /** A second write with the same idempotency key within `IDEMPOTENCY_TTL_MS` has no effect. */
  readonly idempotencyKey?: string
  /**
   * True if the write has an idempotency key or changes an expiry. With this flag, the evaluation need not test each
   * change.
   */
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

/** The bytes contain a flag or a type that this version does not know. */
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

/** Encodes writes for the log, or for the main thread. */
export function encodeWrites(writes: readonly LoggedWrite[]): Buffer {
  // Not from Node's pool of small Buffers: a message to another thread would include the whole pool.
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
    const keyFlag = idempotencyKey === undefined ? 0 : IDEMPOTENCY_KEY_FLAG
    const conditionFlags = (condition?.match ? MATCH_FLAG : 0) | (condition?.noneMatch ? NONE_MATCH_FLAG : 0)
    at = bytes.writeUInt8(conditionFlags | keyFlag, at)
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

/**
 * Decodes writes. Keys and values share the memory of `bytes`.
 * @throws RangeError if `bytes` are truncated; UnknownWritesError if they contain an unknown flag or type
 */
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
    const flags = readBytes(1).readUInt8()
    if (flags >= 2 * IDEMPOTENCY_KEY_FLAG)
      throw new UnknownWritesError('contains a kind of write that this version does not know')
    const match = flags & MATCH_FLAG ? readTags() : undefined
    const noneMatch = flags & NONE_MATCH_FLAG ? readTags() : undefined
    const idempotencyKey = flags & IDEMPOTENCY_KEY_FLAG ? readText() : undefined
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

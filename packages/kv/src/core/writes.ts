import type { Tags } from '@influencer-stats/runtime/conditions'
import type { Condition } from './condition.ts'
import type { Op } from './lines.ts'

// What a log's entry of kind 1 is: writes, one after the other.
//   write  u8 what it has (1 match, 2 none-match, 4 idempotency key), tags of each, the key as a tag, u32 count of ops
//   tags   u16 count (0xffff: any), and of each u16 length and its bytes
//   op     u8 type (0 delete, 1 put, 2 put with a ttl, 3 put with a time of expiry; without a value: 4 expire after a ttl,
//          5 expire at a time, 6 never expire), u16 length of the key, u32 length of the value, for types 2 to 5 u48 ms, and the
//          bytes of key and value
// What of this is not known stops the node.

/** The kind of such an entry. */
export const WRITES = 1
/** That of one, without a body, that takes away some of what has expired. */
export const EXPIRE = 2

/** Changes that happen all or not at all, if the condition holds for the first one's key. */
export interface LoggedWrite {
  readonly ops: readonly Op[]
  readonly condition?: Condition
  /** One that was made with it before is not made again, for some time. */
  readonly idempotencyKey?: string
  /** Whether it has one, or something in it expires: what is looked at instead of all of it. */
  readonly isSpecial?: boolean
}

const MATCH = 1
const NONE_MATCH = 2
const IDEMPOTENCY_KEY = 4
const ANY = 0xffff

const DELETE = 0
const PUT = 1
const PUT_FOR = 2
const PUT_UNTIL = 3
const EXPIRE_AFTER = 4
const EXPIRE_AT = 5
const NEVER_EXPIRE = 6
const TIME_BYTES = 6

/** What was written by a version that knows more. */
export class WritesUnknown extends Error {}

function typeOf(op: Op): number {
  if (op.type === 'del') return DELETE
  const isPut = op.type === 'put'
  if (op.ttl !== undefined) return isPut ? PUT_FOR : EXPIRE_AFTER
  if (op.expiresAt !== undefined) return isPut ? PUT_UNTIL : EXPIRE_AT
  return isPut ? PUT : NEVER_EXPIRE
}

const hasTime = (type: number) => type > PUT && type < NEVER_EXPIRE

const tagsSize = (tags: Tags) => (tags === '*' ? 2 : tags.reduce((sum, tag) => sum + 2 + tag.length, 2))

function sizeOf({ ops, condition, idempotencyKey }: LoggedWrite): number {
  let size = 5
  if (condition?.match) size += tagsSize(condition.match)
  if (condition?.noneMatch) size += tagsSize(condition.noneMatch)
  if (idempotencyKey !== undefined) size += 2 + idempotencyKey.length
  for (const op of ops) {
    size += 7 + op.key.length + (op.type === 'put' ? op.value.length : 0)
    if (hasTime(typeOf(op))) size += TIME_BYTES
  }
  return size
}

export function encodeWrites(writes: readonly LoggedWrite[]): Buffer {
  // Not from the pool: what goes to another thread takes all of its memory along.
  const bytes = Buffer.allocUnsafeSlow(writes.reduce((sum, write) => sum + sizeOf(write), 0))
  let at = 0
  function putTags(tags: Tags): void {
    at = bytes.writeUInt16BE(tags === '*' ? ANY : tags.length, at)
    if (tags === '*') return
    for (const tag of tags) putText(tag)
  }
  function putText(text: string): void {
    at = bytes.writeUInt16BE(text.length, at)
    at += bytes.write(text, at, 'latin1')
  }
  for (const { ops, condition, idempotencyKey } of writes) {
    const name = idempotencyKey === undefined ? 0 : IDEMPOTENCY_KEY
    at = bytes.writeUInt8((condition?.match ? MATCH : 0) | (condition?.noneMatch ? NONE_MATCH : 0) | name, at)
    if (condition?.match) putTags(condition.match)
    if (condition?.noneMatch) putTags(condition.noneMatch)
    if (idempotencyKey !== undefined) putText(idempotencyKey)
    at = bytes.writeUInt32BE(ops.length, at)
    for (const op of ops) {
      const value = op.type === 'put' ? op.value : undefined
      const type = typeOf(op)
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

/** Keys and values are parts of `bytes`, not copies. @throws RangeError where it ends too early, WritesUnknown */
export function decodeWrites(bytes: Buffer): LoggedWrite[] {
  let at = 0
  let isSpecial = false
  function take(length: number): Buffer {
    if (at + length > bytes.length) throw new RangeError('an entry of writes is cut')
    return bytes.subarray(at, (at += length))
  }
  const takeText = () => take(take(2).readUInt16BE()).toString('latin1')
  function takeTags(): Tags {
    const count = take(2).readUInt16BE()
    return count === ANY ? '*' : Array.from({ length: count }, takeText)
  }
  function takeOp(): Op {
    const type = take(1).readUInt8()
    if (type > NEVER_EXPIRE) throw new WritesUnknown('has a change of a kind that this version does not know')
    const keyLength = take(2).readUInt16BE()
    const valueLength = take(4).readUInt32BE()
    if (type <= PUT) {
      const key = take(keyLength)
      return type === PUT ? { type: 'put', key, value: take(valueLength) } : { type: 'del', key }
    }
    isSpecial = true
    if (type === NEVER_EXPIRE) return { type: 'expire', key: take(keyLength) }
    const time = take(TIME_BYTES).readUIntBE(0, TIME_BYTES)
    const expiry = type === PUT_FOR || type === EXPIRE_AFTER ? { ttl: time } : { expiresAt: time }
    const key = take(keyLength)
    return type > PUT_UNTIL
      ? { type: 'expire', key, ...expiry }
      : { type: 'put', key, value: take(valueLength), ...expiry }
  }
  const writes: LoggedWrite[] = []
  while (at < bytes.length) {
    const has = take(1).readUInt8()
    if (has >= 2 * IDEMPOTENCY_KEY) throw new WritesUnknown('has a write of a kind that this version does not know')
    const match = has & MATCH ? takeTags() : undefined
    const noneMatch = has & NONE_MATCH ? takeTags() : undefined
    const idempotencyKey = has & IDEMPOTENCY_KEY ? takeText() : undefined
    isSpecial = idempotencyKey !== undefined
    const ops = Array.from({ length: take(4).readUInt32BE() }, takeOp)
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

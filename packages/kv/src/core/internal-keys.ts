// What the service keeps beside users' entries, behind all of their keys: no UTF-8 begins with 0xff.
//   0xff t KEY        when what is under KEY expires: u48, ms since 1970
//   0xff e TIME KEY   the same in the order of the times; nothing
//   0xff i NAME       of the write with this idempotency key: its revision, as with all that is kept, and its fingerprint

const INTERNAL_PREFIX = 0xff
const EXPIRY_PREFIX = Buffer.from([INTERNAL_PREFIX, 0x74])
const DUE_PREFIX = Buffer.from([INTERNAL_PREFIX, 0x65])
const IDEMPOTENCY_PREFIX = Buffer.from([INTERNAL_PREFIX, 0x69])
const TIME_BYTES = 6

/** Time later than every expiry (ms since 1970). */
export const MAX_EXPIRY_MS = 2 ** 48 - 1

/** Whether it is a key of the service's own, and none of a user's. */
export const isInternal = (key: Buffer): boolean => key[0] === INTERNAL_PREFIX

/** A string that comes after all keys of users, which are at most 1,024 bytes long, and before the service's own. */
export const USER_KEYS_END = '\u{10ffff}'.repeat(257)

export const toExpiryKey = (key: Buffer): Buffer => Buffer.concat([EXPIRY_PREFIX, key])

/** The key behind an `expiryKey`. */
export const fromExpiryKey = (internalKey: Buffer): Buffer => internalKey.subarray(EXPIRY_PREFIX.length)

export function encodeTime(time: number): Buffer {
  const bytes = Buffer.allocUnsafe(TIME_BYTES)
  bytes.writeUIntBE(time, 0, TIME_BYTES)
  return bytes
}

export const decodeTime = (bytes: Buffer): number => bytes.readUIntBE(0, TIME_BYTES)

export const toDueKey = (time: number, key: Buffer): Buffer => Buffer.concat([DUE_PREFIX, encodeTime(time), key])

/** Returns the position of a time in the order of times: a `dueKey` of that time or a later one is not before it. */
export const toDuePosition = (time: number): Buffer =>
  Buffer.concat([DUE_PREFIX, encodeTime(Math.min(time, MAX_EXPIRY_MS))])

/** Returns the position after a `dueKey`. */
export const toNextDuePosition = ({ time, key }: DueKey): Buffer => Buffer.concat([toDueKey(time, key), Buffer.of(0)])

/** Position after all keys in the order of times. */
export const DUE_END = Buffer.from([INTERNAL_PREFIX, 0x66])

/** Of a `dueKey` its time and its key. */
export function decodeDueKey(internalKey: Buffer): DueKey {
  return {
    time: decodeTime(internalKey.subarray(DUE_PREFIX.length)),
    key: internalKey.subarray(DUE_PREFIX.length + TIME_BYTES),
  }
}

/** A key and when what is under it expires (ms since 1970). */
export interface DueKey {
  readonly time: number
  readonly key: Buffer
}

export const toIdempotencyRow = (name: string): Buffer => Buffer.concat([IDEMPOTENCY_PREFIX, Buffer.from(name)])

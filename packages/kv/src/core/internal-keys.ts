// Internal rows of the service. They follow all keys of users, because no UTF-8 text begins with 0xff.
//   key               value
//   0xff t KEY        expiry time of KEY: u48, ms since 1970
//   0xff e TIME KEY   empty; these rows sort the expiry times (u48)
//   0xff i NAME       record of a write with the idempotency key NAME: revision (8 characters), type, fingerprint
// KEY may itself be an internal key: records expire, too.

const INTERNAL_PREFIX = 0xff
const EXPIRY_PREFIX = Buffer.from([INTERNAL_PREFIX, 0x74])
const DUE_PREFIX = Buffer.from([INTERNAL_PREFIX, 0x65])
const IDEMPOTENCY_PREFIX = Buffer.from([INTERNAL_PREFIX, 0x69])
const TIME_BYTES = 6

/** Time after every expiry time (ms since 1970). */
export const MAX_EXPIRY_MS = 2 ** 48 - 1

/** True for an internal key of the service. */
export const isInternal = (key: Buffer): boolean => key[0] === INTERNAL_PREFIX

/** String after all keys of users, which have at most 1,024 bytes, and before the internal keys of the service. */
export const USER_KEYS_END = '\u{10ffff}'.repeat(257)

export const toExpiryKey = (key: Buffer): Buffer => Buffer.concat([EXPIRY_PREFIX, key])

/** Returns the key from a result of `toExpiryKey`. */
export const fromExpiryKey = (internalKey: Buffer): Buffer => internalKey.subarray(EXPIRY_PREFIX.length)

export function encodeTime(time: number): Buffer {
  const bytes = Buffer.allocUnsafe(TIME_BYTES)
  bytes.writeUIntBE(time, 0, TIME_BYTES)
  return bytes
}

export const decodeTime = (bytes: Buffer): number => bytes.readUIntBE(0, TIME_BYTES)

export const toDueKey = (time: number, key: Buffer): Buffer => Buffer.concat([DUE_PREFIX, encodeTime(time), key])

/** Returns the first position of a time: every `toDueKey` of this time or a later one follows it. */
export const toDuePosition = (time: number): Buffer =>
  Buffer.concat([DUE_PREFIX, encodeTime(Math.min(time, MAX_EXPIRY_MS))])

/** Returns the position directly after a `toDueKey`. */
export const toNextDuePosition = ({ time, key }: DueKey): Buffer => Buffer.concat([toDueKey(time, key), Buffer.of(0)])

/** Position after every `toDueKey`. */
export const DUE_END = Buffer.from([INTERNAL_PREFIX, 0x66])

/** Returns the time and the key from a result of `toDueKey`. */
export function decodeDueKey(internalKey: Buffer): DueKey {
  return {
    time: decodeTime(internalKey.subarray(DUE_PREFIX.length)),
    key: internalKey.subarray(DUE_PREFIX.length + TIME_BYTES),
  }
}

/** A key and its expiry time (ms since 1970). */
export interface DueKey {
  readonly time: number
  readonly key: Buffer
}

export const toIdempotencyRow = (name: string): Buffer => Buffer.concat([IDEMPOTENCY_PREFIX, Buffer.from(name)])

// What the service keeps beside users' entries, behind all of their keys: no UTF-8 begins with 0xff.
//   0xff t KEY        when what is under KEY expires: u48, ms since 1970
//   0xff e TIME KEY   the same in the order of the times; nothing
//   0xff i NAME       of the write with this idempotency key: its revision, as with all that is kept, and its fingerprint

const OWN = 0xff
const EXPIRY = Buffer.from([OWN, 0x74])
const DUE = Buffer.from([OWN, 0x65])
const NAME = Buffer.from([OWN, 0x69])
const TIME_BYTES = 6

/** Time later than every expiry (ms since 1970). */
export const NEVER = 2 ** 48 - 1

/** Whether it is a key of the service's own, and none of a user's. */
export const isOwn = (key: Buffer): boolean => key[0] === OWN

/** A string that comes after all keys of users, which are at most 1,024 bytes long, and before the service's own. */
export const AFTER_USERS = '\u{10ffff}'.repeat(257)

export const expiryKey = (key: Buffer): Buffer => Buffer.concat([EXPIRY, key])

/** The key behind an `expiryKey`. */
export const keyOfExpiry = (own: Buffer): Buffer => own.subarray(EXPIRY.length)

export function timeBytes(time: number): Buffer {
  const bytes = Buffer.allocUnsafe(TIME_BYTES)
  bytes.writeUIntBE(time, 0, TIME_BYTES)
  return bytes
}

export const timeOf = (bytes: Buffer): number => bytes.readUIntBE(0, TIME_BYTES)

export const dueKey = (time: number, key: Buffer): Buffer => Buffer.concat([DUE, timeBytes(time), key])

/** Returns the position of a time in the order of times: a `dueKey` of that time or a later one is not before it. */
export const duePosition = (time: number): Buffer => Buffer.concat([DUE, timeBytes(Math.min(time, NEVER))])

/** Returns the position after a `dueKey`. */
export const positionAfter = ({ time, key }: Due): Buffer => Buffer.concat([dueKey(time, key), Buffer.of(0)])

/** Position after all keys in the order of times. */
export const DUE_END = Buffer.from([OWN, 0x66])

/** Of a `dueKey` its time and its key. */
export function readDue(own: Buffer): Due {
  return { time: timeOf(own.subarray(DUE.length)), key: own.subarray(DUE.length + TIME_BYTES) }
}

/** A key and when what is under it expires (ms since 1970). */
export interface Due {
  readonly time: number
  readonly key: Buffer
}

export const nameKey = (name: string): Buffer => Buffer.concat([NAME, Buffer.from(name)])

import { ByteReader } from './byte-reader.ts'

// What a record of a log holds: the sequence number of its first change (8), how many changes (4), and these.

const HEADER_BYTES = 12
const DELETION = 0
const VALUE = 1

export interface BatchHeader {
  /** Of its first change. */
  readonly sequence: number
  readonly count: number
}

export type BatchChange =
  | { readonly type: 'put'; readonly key: Buffer; readonly value: Buffer }
  | { readonly type: 'del'; readonly key: Buffer }

/** Nothing where it is too short to be one. */
export function readBatchHeader(payload: Buffer): BatchHeader | undefined {
  if (payload.length < HEADER_BYTES) return undefined
  return { sequence: Number(payload.readBigUInt64LE()), count: payload.readUInt32LE(8) }
}

/** @throws RangeError where it is cut off or none */
export function readBatch(payload: Buffer): BatchChange[] {
  const reader = new ByteReader(payload)
  reader.take(HEADER_BYTES)
  const changes: BatchChange[] = []
  while (!reader.isAtEnd) {
    const tag = reader.byte()
    if (tag !== VALUE && tag !== DELETION) throw new RangeError('a change is of no known kind')
    const key = reader.prefixed()
    changes.push(tag === VALUE ? { type: 'put', key, value: reader.prefixed() } : { type: 'del', key })
  }
  return changes
}

import { ByteReader } from '../../src/level/files/byte-reader.ts'

const HEADER_BYTES = 12
const DELETION_TAG = 0
const VALUE_TAG = 1

type BatchChange =
  | { readonly type: 'put'; readonly key: Buffer; readonly value: Buffer }
  | { readonly type: 'del'; readonly key: Buffer }

/** The changes in a record of a log. @throws RangeError if it is truncated or damaged */
export function readBatch(payload: Buffer): BatchChange[] {
  const reader = new ByteReader(payload)
  reader.take(HEADER_BYTES)
  const changes: BatchChange[] = []
  while (!reader.isAtEnd) {
    const tag = reader.readByte()
    if (tag !== VALUE_TAG && tag !== DELETION_TAG) throw new RangeError('unknown type of change')
    const key = reader.readPrefixed()
    changes.push(tag === VALUE_TAG ? { type: 'put', key, value: reader.readPrefixed() } : { type: 'del', key })
  }
  return changes
}

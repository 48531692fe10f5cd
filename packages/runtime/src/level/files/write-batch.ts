/** Bytes before the changes in a log record: sequence number of the first change (8) and number of changes (4). */
export const WRITE_HEADER_BYTES = 12

export interface BatchHeader {
  /** Sequence number of the first change. */
  readonly sequence: number
  readonly count: number
}

/** Reads the header of a record. `undefined` if the record is too short. */
export function readBatchHeader(payload: Buffer): BatchHeader | undefined {
  if (payload.length < WRITE_HEADER_BYTES) return undefined
  return { sequence: Number(payload.readBigUInt64LE()), count: payload.readUInt32LE(8) }
}

import type { DirectBatchOptions, JetStreamManager } from '@nats-io/jetstream'
import type { LogMessage } from '../order/frame-assembler.ts'

/**
 * Fetches messages of a stream, in order. Returns fewer than requested, or none, if no server is reachable or if the
 * server does not have them yet.
 */
export async function fetchBatch(
  jsm: JetStreamManager,
  stream: string,
  query: DirectBatchOptions,
): Promise<LogMessage[]> {
  const batch: LogMessage[] = []
  try {
    for await (const { seq, timestamp, data } of await jsm.direct.getBatch(stream, query)) {
      batch.push({ seq, at: Date.parse(timestamp), data: toBuffer(data) })
    }
  } catch {
    // Messages received before the error are returned.
  }
  return batch
}

export const toBuffer = (data: Uint8Array): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength)

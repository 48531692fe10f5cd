import type { DirectBatchOptions, JetStreamManager } from '@nats-io/jetstream'
import type { Message } from '../order/joiner.ts'

/**
 * Some messages of a stream, in their order. None where no server can be asked, or the one that was asked does not have
 * them yet.
 */
export async function fetchBatch(jsm: JetStreamManager, stream: string, query: DirectBatchOptions): Promise<Message[]> {
  const batch: Message[] = []
  try {
    for await (const { seq, timestamp, data } of await jsm.direct.getBatch(stream, query)) {
      batch.push({ seq, at: Date.parse(timestamp), data: toBuffer(data) })
    }
  } catch {
    // What came of it before counts.
  }
  return batch
}

export const toBuffer = (data: Uint8Array): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength)

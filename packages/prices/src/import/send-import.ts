import { Problem } from '@influencer-stats/runtime/problems'
import { PriceLineReader } from '../catalog/price-line-reader.ts'
import { PriceBatchEncoder } from '../core/price-batch.ts'
import { errors } from '../errors.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { ImportedPrices } from '../messages.ts'

/** Size of the lines at which their prices are sent to the main thread (bytes). */
export const PIECE_BYTES = 524_288
/** Time after which the received prices are sent with the next chunk, however few they are (ms). */
export const FLUSH_INTERVAL_MS = 5_000

/** Collects the prices of an import until they are sent. */
interface PriceCollector {
  /** @throws Problem `BAD_LINE` */
  add(chunk: Uint8Array): void
  /** @throws Problem `BAD_LINE` */
  end(): void
  take(): ImportedPrices
  /** Returns the error of a whole import, with the line to which it refers if that is known. */
  locate(error: unknown): unknown
}

/** Reads lines and encodes their prices. */
export function createPriceCollector(): PriceCollector {
  const encoder = new PriceBatchEncoder()
  const reader = new PriceLineReader((price, line) => encoder.put(price, line))
  return {
    add: (chunk) => reader.addChunk(chunk),
    end: () => reader.end(),
    take: () => encoder.take(),
    locate(error) {
      if (!(error instanceof Problem) || error.code !== errors.TYPE_CONFLICT.code || !error.detail) return error
      const line = encoder.findLine(error.detail)
      return line === undefined ? error : errors.BAD_LINE(`line ${line}: ${error.code} ${error.detail}`)
    },
  }
}

/** Collects lines for the log of a cluster, from which every node reads them. */
export function createLineCollector(): PriceCollector {
  let chunks: Uint8Array[] = []
  return {
    add: (chunk) => void chunks.push(chunk),
    end() {},
    take() {
      const bytes = Buffer.concat(chunks)
      chunks = []
      return bytes
    },
    locate: (error) => error,
  }
}

/**
 * Sends the prices of an import to the main thread, in pieces. It reads the next piece while the main thread applies
 * one.
 * @throws Problem `BAD_LINE`, and the errors of `send`
 */
export async function sendImport(
  body: AsyncIterable<Uint8Array>,
  collector: PriceCollector,
  send: (prices: ImportedPrices) => Promise<void>,
): Promise<void> {
  let size = 0
  let flushedAt = performance.now()
  let sent = Promise.resolve()

  async function flush(): Promise<void> {
    const prices = collector.take()
    size = 0
    flushedAt = performance.now()
    await sent
    sent = send(prices)
    // The next `flush` throws its error.
    sent.catch(() => {})
  }

  try {
    for await (const chunk of body) {
      collector.add(chunk)
      size += chunk.length
      if (size >= PIECE_BYTES || performance.now() - flushedAt >= FLUSH_INTERVAL_MS) await flush()
      await yieldTurn()
    }
    collector.end()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // An error of earlier lines has precedence.
    await flush()
    await sent
    throw error
  }
  await flush()
  await sent
}

/** Bytes or texts that are sent one after the other. */
export type BodyParts = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/**
 * Browsers send streams with HTTP/2 only, and without it refuse the request. Node sends them with any protocol.
 */
const canSendStreams = 'process' in globalThis && !('document' in globalThis) && !('importScripts' in globalThis)

/** Returns a body that `fetch` accepts: in Node a stream, in a browser a blob of all parts. */
export async function toRequestBody(parts: BodyParts): Promise<ReadableStream<Uint8Array> | Blob> {
  if (canSendStreams) return toStream(parts)
  const all: (string | Uint8Array)[] = []
  for await (const part of parts) all.push(part)
  return new Blob(all as Uint8Array<ArrayBuffer>[])
}

function toStream(parts: BodyParts): ReadableStream<Uint8Array> {
  const iterator = Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await iterator.next()
      if (done) return controller.close()
      controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

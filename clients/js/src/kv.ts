import { createRequester, type ClientOptions, type Requester } from './core/requester.ts'
import { createReads } from './kv/reads.ts'
import type { KvClient } from './kv/types.ts'
import { watchChanges } from './kv/watch.ts'
import { createWrites } from './kv/writes.ts'

export { ServiceError } from './core/service-error.ts'
export type { CallOptions, ClientOptions } from './core/requester.ts'
export type * from './kv/types.ts'
export type { KvBytes, KvEntry, KvValue } from './kv/values.ts'

/** Creates a client of the service at `url`, in a browser or in Node. */
export function createKvClient(url: string, options: ClientOptions = {}): KvClient {
  const requester = createRequester(url, options)
  let sequence: number | undefined

  function recordSequence(reply: Response): void {
    const received = reply.headers.get('sequence')
    if (received !== null) sequence = Math.max(sequence ?? 0, Number(received))
  }

  const recording: Requester = {
    call: (method, path, parts, read) =>
      requester.call(method, path, parts, (reply) => {
        recordSequence(reply)
        return read(reply)
      }),
    stream: (method, path, parts, read) =>
      requester.stream(method, path, parts, (chunks, reply) => {
        recordSequence(reply)
        return read(chunks, reply)
      }),
  }
  return {
    get sequence() {
      return sequence
    },
    ...createReads(recording),
    ...createWrites(recording),
    watch: (options) => watchChanges(recording, options),
  }
}

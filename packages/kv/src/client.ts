import { createReads } from './client/reads.ts'
import { createKvRequester } from './client/requester.ts'
import type { KvClient, KvClientOptions } from './client/types.ts'
import { watchChanges } from './client/watch.ts'
import { createWrites } from './client/writes.ts'

export type * from './client/types.ts'

/** Creates a client of the service at `url`. */
export function createKvClient(url: string, options: KvClientOptions = {}): KvClient {
  const requester = createKvRequester(url, options)
  return {
    get sequence() {
      return requester.sequence
    },
    ...createReads(requester),
    ...createWrites(requester),
    watch: (watchOptions) => watchChanges(requester, watchOptions),
    close: requester.close,
  }
}

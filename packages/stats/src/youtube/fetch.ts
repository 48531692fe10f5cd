import { createCall, joinResults, readBody } from './youtube-call.ts'
import type { FetchResult, VideoClientOptions, VideoClient } from './video-client.ts'

/** Node's `fetch`: one call per video, one after the other. The naive client, for comparison. */
export function createFetchClient(options: VideoClientOptions): VideoClient {
  const call = createCall(options, async (path, headers, deadline) => {
    const signal = deadline.createSignal()
    const reply = await fetch(options.uri + path, { headers, signal, redirect: 'manual' })
    const body = reply.body ? await readBody(reply.body) : Buffer.alloc(0)
    return { status: reply.status, retryAfter: reply.headers.get('retry-after') ?? undefined, body }
  })

  return {
    idsPerCall: 1,
    call,
    fetch(ids) {
      // A failed call also fails all later ids without a call: they would probably fail too, each after its timeout.
      let last: Promise<FetchResult> = Promise.resolve({ found: [], failed: [] })
      return joinResults(ids.map((id) => [[id], (last = last.then(() => call([id])))]))
    },
    async close() {},
  }
}

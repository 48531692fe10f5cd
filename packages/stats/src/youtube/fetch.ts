import { createCall, joinResults, readBody } from './youtube-call.ts'
import type { FetchResult, VideoClientOptions, VideoClient } from './video-client.ts'

/** Node's `fetch`: one call a video, one after the other. The naive client, and what it costs. */
export function createFetchClient(options: VideoClientOptions): VideoClient {
  const call = createCall(options, async (path, headers, signal) => {
    const reply = await fetch(options.uri + path, { headers, signal, redirect: 'manual' })
    const body = reply.body ? await readBody(reply.body) : Buffer.alloc(0)
    return { status: reply.status, retryAfter: reply.headers.get('retry-after') ?? undefined, body }
  })

  return {
    idsPerCall: 1,
    call,
    fetch(ids) {
      // After one that has failed the others would most likely fail, too, each after its time-out.
      let last: Promise<FetchResult> = Promise.resolve({ found: [], failed: [] })
      return joinResults(ids.map((id) => [[id], (last = last.then(() => call([id])))]))
    },
    async close() {},
  }
}

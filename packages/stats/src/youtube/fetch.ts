import { createCalls, joinResults, readBody } from './youtube-call.ts'
import type { FetchResult, VideoClientOptions, VideoClient } from './video-client.ts'

/** Node's `fetch`: one call per video, one after the other. The naive client, for comparison. */
export function createFetchClient(options: VideoClientOptions): VideoClient {
  const { call, tryCall, side } = createCalls(options, async (path, headers, deadline) => {
    const signal = deadline.createSignal()
    const reply = await fetch(options.uri + path, { headers, signal, redirect: 'manual' })
    const body = reply.body ? await readBody(reply.body) : Buffer.alloc(0)
    return { status: reply.status, retryAfter: reply.headers.get('retry-after') ?? undefined, body }
  })

  return {
    idsPerCall: 1,
    call,
    side,
    async fetch(ids) {
      const answers: FetchResult[] = []
      for (const [i, id] of ids.entries()) {
        const answer = await tryCall([id])
        answers.push(answer)
        if (!answer.fault) continue
        // The later ids also fail, without a call: they would probably fail too, each after its timeout.
        answers.push({ found: [], failed: ids.slice(i + 1), fault: answer.fault })
        break
      }
      return joinResults(answers)
    },
    async close() {},
  }
}

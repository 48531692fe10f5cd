import { Batcher } from '@influencer-stats/runtime/async/batcher'
import { IDS_PER_CALL } from '../core/quota-budget.ts'
import { joinResults } from './youtube-call.ts'
import type { FetchResult, VideoClientOptions, VideoClient } from './video-client.ts'
import { createUndiciCalls } from './undici-pool.ts'

interface PendingVideo {
  readonly id: string
  resolve(answer: FetchResult): void
}

/**
 * Batches all requests within one turn of the event loop into calls of up to 50 videos, because a call costs one unit of
 * quota, however many videos it has. A video with a call in flight is not requested twice.
 */
export function createBatchingClient(options: VideoClientOptions): VideoClient {
  const { call, tryCall, side, close } = createUndiciCalls(options, IDS_PER_CALL)
  const inFlight = new Map<string, Promise<FetchResult>>()
  const batcher = new Batcher<PendingVideo>((pending) => {
    for (let i = 0; i < pending.length; i += IDS_PER_CALL) void send(pending.slice(i, i + IDS_PER_CALL))
  })

  function enqueue(id: string): Promise<FetchResult> {
    const answer = new Promise<FetchResult>((resolve) => batcher.add({ id, resolve }))
    inFlight.set(id, answer)
    return answer
  }

  async function send(batch: readonly PendingVideo[]): Promise<void> {
    const { found, failed, fault } = await tryCall(batch.map(({ id }) => id))
    const byId = new Map(found.map((numbers) => [numbers.id, numbers]))
    for (const { id, resolve } of batch) {
      inFlight.delete(id)
      const numbers = byId.get(id)
      if (failed.includes(id)) resolve({ found: [], failed: [id], ...(fault && { fault }) })
      else resolve({ found: numbers ? [numbers] : [], failed: [] })
    }
  }

  return {
    idsPerCall: IDS_PER_CALL,
    call,
    side,
    fetch: (ids) => joinResults(ids.map((id) => inFlight.get(id) ?? enqueue(id))),
    close,
  }
}

import { parseVideos, videosPath } from './video-list.ts'
import type { VideoNumbers } from '../core/numbers.ts'
import type { ClientOptions, VideoClient } from './client.ts'
import { toUpstreamProblem } from './fault.ts'

/** Node's `fetch`: one call a video, one after the other. The naive client, and what it costs. */
export function createFetchClient({ uri, key, timeout, meter, logger }: ClientOptions): VideoClient {
  async function fetchOne(id: string): Promise<VideoNumbers[]> {
    meter.spend()
    logger.debug(`asking YouTube for ${id}`)
    const reply = await fetch(uri + videosPath([id], key), { signal: AbortSignal.timeout(timeout) })
    logger.debug(`YouTube answered ${reply.status} for ${id}`)
    return parseVideos(reply.status, await reply.text())
  }

  return {
    async fetch(ids) {
      const found: VideoNumbers[] = []
      try {
        for (const id of ids) found.push(...(await fetchOne(id)))
      } catch (fault) {
        throw toUpstreamProblem(fault)
      }
      return found
    },
    async close() {},
  }
}

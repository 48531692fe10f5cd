// Not from 'undici', which also loads fetch, WebSocket and its caches: 8 MB of memory in every thread.
import request from 'undici/lib/api/api-request.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import { parseVideos, videosPath } from '../core/video-list.ts'
import type { VideoNumbers } from '../core/numbers.ts'
import type { ClientOptions, VideoClient } from './client.ts'
import { toUpstreamProblem } from './fault.ts'

/** Kept-alive connections of undici: one call a video, all at once. */
export function createUndiciPoolClient(options: ClientOptions): VideoClient {
  const call = createUndiciCall(options)
  return {
    async fetch(ids) {
      const found = await Promise.all(ids.map((id) => call.videos([id])))
      return found.flat()
    },
    close: call.close,
  }
}

/** One call of `videos.list` through a pool. */
export function createUndiciCall({ uri, key, timeout, connections, meter, logger }: ClientOptions) {
  const pool = new Pool(uri, { connections, headersTimeout: timeout, bodyTimeout: timeout, connectTimeout: timeout })
  let closed: Promise<void> | undefined

  return {
    /** @param ids at most 50 */
    async videos(ids: readonly string[]): Promise<VideoNumbers[]> {
      try {
        meter.spend()
        logger.debug(`asking YouTube for ${ids.join()}`)
        const { statusCode, body } = await request.call(pool, { path: videosPath(ids, key), method: 'GET' })
        logger.debug(`YouTube answered ${statusCode} for ${ids.join()}`)
        return parseVideos(statusCode, await body.text())
      } catch (fault) {
        throw toUpstreamProblem(fault)
      }
    },
    close: () => (closed ??= pool.destroy()),
  }
}

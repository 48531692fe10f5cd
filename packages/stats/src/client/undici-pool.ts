// Not from 'undici', which also loads fetch, WebSocket and its caches: 8 MB of memory in every thread.
import Pool from 'undici/lib/dispatcher/pool.js'
import { parseVideos, videosPath } from './video-list.ts'
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
        const { status, text } = await get(pool, videosPath(ids, key))
        logger.debug(`YouTube answered ${status} for ${ids.join()}`)
        return parseVideos(status, text)
      } catch (fault) {
        throw toUpstreamProblem(fault)
      }
    },
    close: () => (closed ??= pool.destroy()),
  }
}

/** By `dispatch`, without the stream that `request` makes of each body: a fifth less processor time. */
function get(pool: Pool, path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let status = 0
    pool.dispatch(
      { path, method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart(_controller, code) {
          status = code
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk)
        },
        onResponseEnd() {
          const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
          resolve({ status, text: body.toString() })
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      },
    )
  })
}

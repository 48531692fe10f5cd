// Not from 'undici', which also loads fetch, WebSocket and its caches: 8 MB of memory in every thread.
import Pool from 'undici/lib/dispatcher/pool.js'
import {
  fetchOneByOne,
  createCalls,
  MAX_REPLY_BYTES,
  createTooLargeError,
  type YoutubeCalls,
  type YoutubeReply,
} from './youtube-call.ts'
import type { Deadline } from './deadline.ts'
import type { VideoClientOptions, VideoClient } from './video-client.ts'
import { NOT_SENT_CODE } from './upstream-problem.ts'

/** Creates a client on keep-alive connections of undici. It makes one call per video, all concurrent. */
export function createUndiciPoolClient(options: VideoClientOptions): VideoClient {
  const { close, ...calls } = createUndiciCalls(options)
  return { ...fetchOneByOne(calls), close }
}

/** Creates the functions that make calls through a pool of connections. */
export function createUndiciCalls(
  options: VideoClientOptions,
  idsPerCall?: number,
): YoutubeCalls & Pick<VideoClient, 'close'> {
  const { uri, timeout, connections } = options
  // A call has one deadline for all its steps; undici's own timeouts would restart with every byte.
  const pool = new Pool(uri, { connections, headersTimeout: 0, bodyTimeout: 0, connectTimeout: timeout })
  let closed: Promise<void> | undefined
  return {
    ...createCalls(options, (path, headers, deadline) => get(pool, path, headers, deadline), idsPerCall),
    close: () => (closed ??= pool.destroy()),
  }
}

/**
 * Makes a GET request with undici's `dispatch`. Its `request` would create a stream for each body; without the stream a
 * call takes a fifth less processor time.
 */
function get(pool: Pool, path: string, headers: Record<string, string>, deadline: Deadline): Promise<YoutubeReply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let status = 0
    let retryAfter: string | undefined
    deadline.onEnd(() => reject(Object.assign(new Error('the request was not sent in time'), { code: NOT_SENT_CODE })))
    pool.dispatch(
      { path, method: 'GET', headers },
      {
        onRequestStart(controller) {
          deadline.onEnd(() => controller.abort(deadline.createError()))
        },
        onResponseStart(_controller, code, responseHeaders) {
          status = code
          const field = responseHeaders['retry-after']
          retryAfter = Array.isArray(field) ? field[0] : field
        },
        onResponseData(controller, chunk) {
          if ((size += chunk.length) > MAX_REPLY_BYTES) controller.abort(createTooLargeError())
          else chunks.push(chunk)
        },
        onResponseEnd() {
          const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
          resolve({ status, retryAfter, body })
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      },
    )
  })
}

import { isUtf8 } from 'node:buffer'
import type { VideoNumbers } from '../core/video-numbers.ts'
import { getTraceHeaders } from '@influencer-stats/runtime/trace'
import type { UpstreamCall } from '@influencer-stats/runtime/upstream-timer'
import type { FetchResult, VideoClientOptions, VideoClient } from './video-client.ts'
import { maskKey } from './api-keys.ts'
import { isDeadKey, parseRetryAfter } from './error-reply.ts'
import { isConnectError, toUpstreamProblem, createUnreadableReply, UpstreamProblem } from './upstream-problem.ts'
import { Deadline } from './deadline.ts'
import { parseDetails, parseVideos, buildVideosPath } from './video-list.ts'

export interface YoutubeReply {
  readonly status: number
  /** The header `Retry-After`. */
  readonly retryAfter?: string | undefined
  readonly body: Buffer
}

/** Requests a path with these headers; ends at the deadline. */
export type HttpGet = (path: string, headers: Record<string, string>, deadline: Deadline) => Promise<YoutubeReply>

/** Maximum size of a reply (bytes). 50 videos take 7 KB. */
export const MAX_REPLY_BYTES = 1_048_576

export const createTooLargeError = () => createUnreadableReply(`the response was larger than ${MAX_REPLY_BYTES} bytes`)

/** Makes calls of `videos.list`. Each call takes a unit of quota and has a timeout. */
export interface YoutubeCalls {
  /** See `VideoClient.call`. */
  readonly call: VideoClient['call']
  /** As `call`, but never rejects: a failed call fails all of its ids. */
  readonly tryCall: VideoClient['call']
}

/** Creates the functions that make calls through `get`. */
export function createCalls(
  { keys, timeout, meter, recorder, logger, timer: startTimer }: VideoClientOptions,
  get: HttpGet,
  idsPerCall = 1,
): YoutubeCalls {
  /** Parses a reply. @throws Problem `UPSTREAM_UNAVAILABLE` */
  function parse(
    { status, body, retryAfter }: YoutubeReply,
    ids: readonly string[],
    key: string,
    /** Time of a request for details (ms since the epoch); undefined if the call requested none. */
    detailsAsOf: number | undefined,
  ): FetchResult {
    logger.debug(`YouTube responded with ${status} for ${ids.join()}`)
    const isOk = status === 200
    const text = isOk ? toUtf8Text(body) : body.toString()
    const context = isOk ? undefined : { retryAfter: parseRetryAfter(retryAfter), key: maskKey(key) }
    const { found, unreadable, items } = parseVideos(status, text, ids, idsPerCall, context)
    if (detailsAsOf !== undefined) recorder?.recordDetails(ids, parseDetails(items, ids, detailsAsOf))
    if (unreadable.length === 0) return { found, failed: unreadable, fault: undefined }
    const fault = createUnreadableReply(`the response contained unreadable numbers: ${unreadable.join()}`)
    return { found, failed: unreadable, fault }
  }

  /**
   * Makes the call, and repeats it once with the standby key if YouTube refuses the first key permanently. It is one
   * async function, because each further one adds a promise to every call.
   */
  async function tryCall(
    ids: readonly string[],
    deadline = new Deadline(timeout),
    isRepeated = false,
  ): Promise<FetchResult> {
    const key = keys.current
    let timed: UpstreamCall | undefined
    try {
      const detailsAsOf = recorder?.needsDetails(ids) ? Date.now() : undefined
      const saving = meter.spend()
      if (saving) await saving
      logger.debug(`request to YouTube for ${ids.join()}`)
      timed = startTimer?.('youtube')
      const path = buildVideosPath(ids, key, detailsAsOf !== undefined)
      const reply = await get(path, timed?.headers ?? getTraceHeaders(), deadline)
      timed?.end(reply.status)
      timed = undefined
      return parse(reply, ids, key, detailsAsOf)
    } catch (fault) {
      const isUnsent = isConnectError(fault)
      timed?.end(deadline.isOver ? 'timeout' : isUnsent ? 'unreachable' : 'broken')
      if (!isRepeated && fault instanceof UpstreamProblem && isDeadKey(fault.fault) && keys.refuse(key))
        return await tryCall(ids, deadline, true)
      if (isUnsent) meter.refund()
      return { found: [], failed: ids, fault: toUpstreamProblem(fault) }
    } finally {
      deadline.clear()
    }
  }

  return {
    tryCall: (ids) => tryCall(ids),
    async call(ids) {
      const result = await tryCall(ids)
      if (result.fault && result.found.length === 0) throw result.fault
      return result
    },
  }
}

/** Reads a body up to the maximum size of a reply. */
export async function readBody(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    if ((size += chunk.length) > MAX_REPLY_BYTES) throw createTooLargeError()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toUtf8Text(body: Buffer): string {
  if (!isUtf8(body)) throw createUnreadableReply('the response was not UTF-8')
  return body.toString()
}

/** Joins the results of several calls. @param answers results, or promises of them that never reject */
export async function joinResults(answers: readonly (FetchResult | Promise<FetchResult>)[]): Promise<FetchResult> {
  const found: VideoNumbers[] = []
  const failed: string[] = []
  let fault: FetchResult['fault']
  for (const pending of answers) {
    const answer = await pending
    found.push(...answer.found)
    failed.push(...answer.failed)
    fault ??= answer.fault
  }
  return { found, failed, fault }
}

/** Creates a client that makes one call per video, all concurrent. */
export const fetchOneByOne = ({ call, tryCall }: YoutubeCalls): Pick<VideoClient, 'idsPerCall' | 'call' | 'fetch'> => ({
  idsPerCall: 1,
  call,
  fetch: (ids) => joinResults(ids.map((id) => tryCall([id]))),
})

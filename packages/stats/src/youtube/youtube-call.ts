import { isUtf8 } from 'node:buffer'
import type { VideoNumbers } from '../core/video-numbers.ts'
import { getTraceHeaders } from '@influencer-stats/runtime/trace'
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

/**
 * Creates the function that makes calls of `videos.list`. Each call takes a unit of quota, has a timeout, and parses the
 * reply.
 */
export function createCall(
  { keys, timeout, meter, recorder, logger, timer: startTimer }: VideoClientOptions,
  get: HttpGet,
  idsPerCall = 1,
): VideoClient['call'] {
  async function callWith(key: string, ids: readonly string[], deadline: Deadline): ReturnType<VideoClient['call']> {
    const asOf = Date.now()
    const withDetails = recorder?.needsDetails(ids) === true
    await meter.spend()
    logger.debug(`request to YouTube for ${ids.join()}`)
    const timed = startTimer?.('youtube')
    let reply: YoutubeReply
    try {
      reply = await get(buildVideosPath(ids, key, withDetails), timed?.headers ?? getTraceHeaders(), deadline)
    } catch (fault) {
      timed?.end(deadline.isOver ? 'timeout' : isConnectError(fault) ? 'unreachable' : 'broken')
      throw fault
    }
    const { status, body, retryAfter } = reply
    timed?.end(status)
    logger.debug(`YouTube responded with ${status} for ${ids.join()}`)
    const isOk = status === 200
    const text = isOk ? toUtf8Text(body) : body.toString()
    const context = isOk ? {} : { retryAfter: parseRetryAfter(retryAfter), key: maskKey(key) }
    const { found, unreadable, items } = parseVideos(status, text, ids, idsPerCall, context)
    if (withDetails) recorder.recordDetails(ids, parseDetails(items, ids, asOf))
    if (unreadable.length === 0) return { found, failed: [] }
    const fault = createUnreadableReply(`the response contained unreadable numbers: ${unreadable.join()}`)
    return { found, failed: unreadable, fault }
  }

  /** Makes the call, and repeats it with the standby key if YouTube refuses the first key permanently. */
  async function callWithKeys(ids: readonly string[], deadline: Deadline): ReturnType<VideoClient['call']> {
    const key = keys.current
    try {
      return await callWith(key, ids, deadline)
    } catch (fault) {
      if (!(fault instanceof UpstreamProblem && isDeadKey(fault.fault) && keys.refuse(key))) throw fault
      return callWith(keys.current, ids, deadline)
    }
  }

  return async (ids) => {
    const deadline = new Deadline(timeout)
    try {
      return await callWithKeys(ids, deadline)
    } catch (fault) {
      if (isConnectError(fault)) meter.refund()
      throw toUpstreamProblem(fault)
    } finally {
      deadline.clear()
    }
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

/** Joins the results of several calls. A rejected call fails all of its ids. */
export async function joinResults(
  calls: readonly (readonly [ids: readonly string[], answer: Promise<FetchResult>])[],
): Promise<FetchResult> {
  const [found, failed] = [[] as VideoNumbers[], [] as string[]]
  let fault: FetchResult['fault']
  for (const [i, result] of (await Promise.allSettled(calls.map(([, answer]) => answer))).entries()) {
    const isRejected = result.status === 'rejected'
    const answer = isRejected
      ? { found: [], failed: calls[i]![0], fault: toUpstreamProblem(result.reason) }
      : result.value
    found.push(...answer.found)
    failed.push(...answer.failed)
    fault ??= answer.fault
  }
  return { found, failed, fault }
}

/** Creates a client that makes one call per video, all concurrent. */
export const fetchOneByOne = (call: VideoClient['call']): Pick<VideoClient, 'idsPerCall' | 'call' | 'fetch'> => ({
  idsPerCall: 1,
  call,
  fetch: (ids) => joinResults(ids.map((id) => [[id], call([id])])),
})

import { isUtf8 } from 'node:buffer'
import type { VideoNumbers } from '../core/numbers.ts'
import { getTraceHeaders } from '@influencer-stats/runtime/trace'
import type { Answer, ClientOptions, VideoClient } from './client.ts'
import { maskKey } from './api-keys.ts'
import { isDeadKey, parseRetryAfter } from './error-reply.ts'
import { reachedNobody, toUpstreamProblem, unreadableReply, UpstreamProblem } from './fault.ts'
import { detailsOf, parseVideos, videosPath } from './video-list.ts'

export interface RawReply {
  readonly status: number
  /** The header `Retry-After`. */
  readonly retryAfter?: string | undefined
  readonly body: Buffer
}

/** Gets a path with these headers; ends with the signal. */
export type Get = (path: string, headers: Record<string, string>, signal: AbortSignal) => Promise<RawReply>

/** Most bytes of a reply. 50 videos take 11 KB. */
export const MAX_REPLY = 1_048_576

export const tooLarge = () => unreadableReply(`the reply was larger than ${MAX_REPLY} bytes`)

/** One call of `videos.list`: takes its unit of quota, ends in time, and reads what came. */
export function createCall(
  { keys, timeout, meter, notes, logger, timer: timed }: ClientOptions,
  get: Get,
  idsPerCall = 1,
): VideoClient['call'] {
  /** Gets a path, and tells how that ended. */
  async function getTimed(path: string, signal: AbortSignal): Promise<RawReply> {
    const call = timed?.('youtube')
    try {
      const reply = await get(path, call?.headers ?? getTraceHeaders(), signal)
      call?.end(reply.status)
      return reply
    } catch (fault) {
      call?.end(signal.aborted ? 'timeout' : reachedNobody(fault) ? 'unreachable' : 'broken')
      throw fault
    }
  }

  async function callWith(key: string, ids: readonly string[], signal: AbortSignal): ReturnType<VideoClient['call']> {
    const asOf = Date.now()
    const withDetails = notes?.wantsDetails(ids) === true
    await meter.spend()
    logger.debug(`asking YouTube for ${ids.join()}`)
    const { status, body, retryAfter } = await getTimed(videosPath(ids, key, withDetails), signal)
    logger.debug(`YouTube answered ${status} for ${ids.join()}`)
    const text = status === 200 ? textOf(body) : body.toString()
    const context = { retryAfter: parseRetryAfter(retryAfter), key: maskKey(key) }
    const { found, unreadable, items } = parseVideos(status, text, ids, idsPerCall, context)
    if (withDetails) notes.takeDetails(ids, detailsOf(items, ids, asOf))
    if (unreadable.length === 0) return { found, failed: [] }
    const fault = unreadableReply(`the reply had numbers that could not be read: ${unreadable.join()}`)
    return { found, failed: unreadable, fault }
  }

  /** The call; with the standby key, if YouTube refuses the first for good. */
  async function callWithKeys(ids: readonly string[], signal: AbortSignal): ReturnType<VideoClient['call']> {
    const key = keys.current
    try {
      return await callWith(key, ids, signal)
    } catch (fault) {
      if (!(fault instanceof UpstreamProblem && isDeadKey(fault.fault) && keys.refuse(key))) throw fault
      return callWith(keys.current, ids, signal)
    }
  }

  return async (ids) => {
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(new DOMException('too late', 'TimeoutError')), timeout)
    try {
      return await callWithKeys(ids, ending.signal)
    } catch (fault) {
      if (reachedNobody(fault)) meter.giveBack()
      throw toUpstreamProblem(fault)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** A body, as long as it is no longer than a reply may be. */
export async function readBody(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    if ((size += piece.length) > MAX_REPLY) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw unreadableReply('the reply was not UTF-8')
  return body.toString()
}

/** The results of several calls in one. A rejected call fails all of its ids. */
export async function joinAnswers(
  calls: readonly (readonly [ids: readonly string[], answer: Promise<Answer>])[],
): Promise<Answer> {
  const [found, failed] = [[] as VideoNumbers[], [] as string[]]
  let fault: Answer['fault']
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

/** A client that makes a call a video, all at once. */
export const aCallEach = (call: VideoClient['call']): Pick<VideoClient, 'idsPerCall' | 'call' | 'fetch'> => ({
  idsPerCall: 1,
  call,
  fetch: (ids) => joinAnswers(ids.map((id) => [[id], call([id])])),
})

import { isUtf8 } from 'node:buffer'
import type { VideoNumbers } from '../core/video-numbers.ts'
import { getTraceHeaders } from '@influencer-stats/runtime/trace'
import type { UpstreamCall } from '@influencer-stats/runtime/upstream-timer'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { FetchResult, VideoClientOptions, VideoClient } from './video-client.ts'
import { maskKey } from './api-keys.ts'
import { isDeadKey, parseRetryAfter, type ReplyContext } from './error-reply.ts'
import { createSideCaller, type ApiCall, type SideCaller } from './side-caller.ts'
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

/** Makes calls of `videos.list`, and others. Each call takes a unit of quota and has a timeout. */
export interface YoutubeCalls {
  /** See `VideoClient.call`. */
  readonly call: VideoClient['call']
  /** As `call`, but never rejects: a failed call fails all of its ids. */
  readonly tryCall: VideoClient['call']
  readonly side: SideCaller
}

/** Creates the functions that make calls through `get`. */
export function createCalls(options: VideoClientOptions, get: HttpGet, idsPerCall = 1): YoutubeCalls {
  const { keys, timeout, meter, recorder, logger, timer: startTimer } = options

  function parse<Result>(call: ApiCall<Result>, { status, body, retryAfter }: YoutubeReply, key: string): Result {
    logger.debug(`YouTube responded with ${status} for ${call.label}`)
    const isOk = status === 200
    const text = isOk ? toUtf8Text(body) : body.toString()
    const context = isOk ? undefined : { retryAfter: parseRetryAfter(retryAfter), key: maskKey(key) }
    return call.parse(status, text, context)
  }

  /**
   * Makes the call, and repeats it once with the standby key if YouTube refuses the first key permanently. It is one
   * async function, because each further one adds a promise to every call.
   */
  async function send<Result>(
    call: ApiCall<Result>,
    deadline = new Deadline(timeout),
    isRepeated = false,
  ): Promise<Result> {
    const key = keys.current
    let timed: UpstreamCall | undefined
    try {
      const saving = meter.spend(call.kind)
      if (saving) await saving
      logger.debug(`request to YouTube for ${call.label}`)
      timed = startTimer?.('youtube')
      const path = call.buildPath(key)
      const headers = timed?.headers ?? getTraceHeaders()
      const reply = await get(path, call.headers ? { ...headers, ...call.headers } : headers, deadline)
      timed?.end(reply.status)
      timed = undefined
      return parse(call, reply, key)
    } catch (fault) {
      const isUnsent = isConnectError(fault)
      timed?.end(deadline.isOver ? 'timeout' : isUnsent ? 'unreachable' : 'broken')
      if (!isRepeated && fault instanceof UpstreamProblem && isDeadKey(fault.fault) && keys.refuse(key))
        return await send(call, deadline, true)
      if (isUnsent) meter.refund(call.kind)
      return call.fail(toUpstreamProblem(fault))
    } finally {
      deadline.clear()
    }
  }

  const tryCall = (ids: readonly string[]) => send(new NumbersCall(ids, idsPerCall, recorder))
  return {
    tryCall,
    async call(ids) {
      const result = await tryCall(ids)
      if (result.fault && result.found.length === 0) throw result.fault
      return result
    },
    side: createSideCaller(send),
  }
}

/** A call for the numbers of videos, and for their details if the recorder needs them. */
class NumbersCall implements ApiCall<FetchResult> {
  readonly kind = 'videos'
  readonly #ids: readonly string[]
  readonly #idsPerCall: number
  readonly #recorder: VideoClientOptions['recorder']
  /** Time of the request for details (ms since the epoch); undefined if the call requests none. */
  #detailsAsOf: number | undefined

  constructor(ids: readonly string[], idsPerCall: number, recorder: VideoClientOptions['recorder']) {
    this.#ids = ids
    this.#idsPerCall = idsPerCall
    this.#recorder = recorder
  }

  get label(): string {
    return this.#ids.join()
  }

  buildPath(key: string): string {
    this.#detailsAsOf = this.#recorder?.needsDetails(this.#ids) ? Date.now() : undefined
    return buildVideosPath(this.#ids, key, this.#detailsAsOf !== undefined)
  }

  parse(status: number, text: string, context: ReplyContext | undefined): FetchResult {
    const ids = this.#ids
    const { found, unreadable, items } = parseVideos(status, text, ids, this.#idsPerCall, context)
    const asOf = this.#detailsAsOf
    if (asOf !== undefined) this.#recorder?.recordDetails(ids, parseDetails(items, ids, asOf))
    if (unreadable.length === 0) return { found, failed: unreadable, fault: undefined }
    const fault = createUnreadableReply(`the response contained unreadable numbers: ${unreadable.join()}`)
    return { found, failed: unreadable, fault }
  }

  fail(fault: Problem): FetchResult {
    return { found: [], failed: this.#ids, fault }
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
export const fetchOneByOne = ({
  call,
  tryCall,
  side,
}: YoutubeCalls): Pick<VideoClient, 'idsPerCall' | 'call' | 'fetch' | 'side'> => ({
  idsPerCall: 1,
  call,
  side,
  fetch: (ids) => joinResults(ids.map((id) => tryCall([id]))),
})

import type { FastifyReply, FastifyRequest } from 'fastify'
import { pause } from '@influencer-stats/runtime/async/retry'
import {
  defineHotRoute,
  type BufferedReply,
  type HotRoute,
  type RequestHeaders,
} from '@influencer-stats/runtime/hot-route'
import type { Lifecycle } from '@influencer-stats/runtime/service'
import type { FormattedProblem, Problem } from '@influencer-stats/runtime/problems'
import { getReplyHeaders } from '@influencer-stats/runtime/stream-reply'
import { isFailing, type Faults } from '../core/faults.ts'
import { createGoogleError, googleErrors, type GoogleError } from '../core/google-errors.ts'
import { isGzipAccepted } from '@influencer-stats/runtime/accepts-gzip'
import type { ListResource } from '../lists/list-resource.ts'
import { renderError } from '../lists/render-list.ts'
import type { ThreadState } from '../thread-state.ts'
import { createReplyCache, type PreparedCall } from '../reply-cache.ts'
import { createReply, type EncodedReply } from '../encoded-reply.ts'
import type { YoutubeConfig } from '../settings.ts'
import { createListSchema } from './list-schemas.ts'

export interface ListRouteOptions {
  readonly config: YoutubeConfig
  readonly lifecycle: Lifecycle
  readonly thread: ThreadState
}

const DEFAULT_ERROR_STATUS = 503
/** Maximum time of a timer (ms), 24 days: calls without a reply wait until their client disconnects. */
const HANG_MS = 2_147_483_647

/**
 * True if the active faults end connections, or prevent a reply. Such calls need Fastify, which gives access to the
 * connection.
 */
const affectsConnection = ({ hang, cut }: Faults): boolean => hang === true || cut !== undefined

const refuse = (error: GoogleError, { pretty }: PreparedCall) => createReply(error.status, renderError(error, pretty))

/** Formats a problem of the runtime as Google's error. */
export const formatGoogleProblem = ({ status, message }: Problem): FormattedProblem => ({
  contentType: 'application/json; charset=UTF-8',
  body: renderError(createGoogleError(status, message)),
})

const halve = ({ body }: { readonly body: string }) => body.slice(0, body.length / 2)

/** Creates the route of a method `list`, in the format of the YouTube Data API v3. */
export function createListRoute(
  resource: ListResource<any>,
  { config, lifecycle, thread }: ListRouteOptions,
): HotRoute<string> {
  const { meter } = thread
  const path = `/youtube/v3/${resource.name}`
  const keys = new Set(config.apiKeys)
  const prepareCall = createReplyCache(resource)

  /**
   * Counts a call and returns the reply to it. A call with a valid key takes one unit of the quota, even if the reply is
   * an error.
   */
  function getReply(queryString: string, headers: RequestHeaders): EncodedReply {
    const call = prepareCall(queryString, thread.now(), thread.world)
    meter.count(resource.name, call.ids)
    const key = call.key ?? headers['x-goog-api-key']
    if (typeof key !== 'string' || !keys.has(key)) return refuse(googleErrors.KEY_INVALID(), call)
    if (!meter.takeQuota()) return refuse(googleErrors.QUOTA_EXCEEDED(), call)
    const { errorRate, errorStatus = DEFAULT_ERROR_STATUS, errorReason } = thread.state.faults
    if (errorRate && isFailing(meter.nextFaultIndex(), errorRate)) {
      return refuse(createGoogleError(errorStatus, 'Backend Error', errorReason), call)
    }
    return call.reply
  }

  /** Ends the connection of a call according to the active faults. */
  async function endConnection(queryString: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { hang, cut, latencyMs = 0 } = thread.state.faults
    const { plain } = getReply(queryString, request.headers)
    const { raw: response } = reply
    const fields = getReplyHeaders(reply)
    reply.hijack()
    const closing = new AbortController()
    response.once('close', () => closing.abort())
    await pause(hang ? HANG_MS : latencyMs, AbortSignal.any([lifecycle.drain, closing.signal]))
    if (hang || cut === 'before') return void response.destroy()
    const length = ['content-length', String(Buffer.byteLength(plain.body))]
    response.writeHead(plain.status, ['content-type', plain.type!, ...length, ...plain.headers, ...fields])
    response.write(halve(plain), () => response.destroy())
  }

  return defineHotRoute<string>({
    method: 'GET',
    url: path,
    // The API key protects this route in place of a token, so that Google's own client can call it.
    access: 'host',
    head: false,
    isConditional: true,
    schema: createListSchema(resource, config.apiKeys),
    // The schema only documents the API. `parseCall` creates the errors of parameters, in Google's format and order.
    validatorCompiler: () => () => true,
    formatProblem: formatGoogleProblem,
    match(target) {
      if (!target.startsWith(path) || affectsConnection(thread.state.faults)) return undefined
      if (target.length === path.length) return ''
      return target[path.length] === '?' ? target.slice(path.length + 1) : undefined
    },
    read({ raw }) {
      const queryStart = raw.url!.indexOf('?')
      return queryStart < 0 ? '' : raw.url!.slice(queryStart + 1)
    },
    serve: (queryString, request, reply) =>
      affectsConnection(thread.state.faults) ? endConnection(queryString, request, reply) : undefined,
    answer(queryString, { headers }) {
      const { malformed, latencyMs } = thread.state.faults
      const encoded = getReply(queryString, headers)
      const toReply = (): BufferedReply => {
        if (malformed) return createReply(encoded.plain.status, halve(encoded.plain)).plain
        return encoded.gzip && isGzipAccepted(headers['accept-encoding']) ? encoded.gzip() : encoded.plain
      }
      // A drain ends the delay: it waits for every request in progress.
      return latencyMs ? pause(latencyMs, lifecycle.drain).then(toReply) : toReply()
    },
  })
}

import type { IncomingHttpHeaders } from 'node:http'
import { errors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import type { Lifecycle } from '@influencer-stats/runtime/service'
import { headersOf } from '@influencer-stats/runtime/streamed'
import { isFailing } from '../core/faults.ts'
import { googleErrorOf, googleErrors, type GoogleError } from '../core/google-errors.ts'
import { namesEtag } from '../core/negotiation.ts'
import { renderError } from '../core/render.ts'
import { createDelivery } from '../delivery.ts'
import type { ThreadState } from '../thread-state.ts'
import { createReplies, type Prepared } from '../replies.ts'
import { createReply, notModified, type Reply } from '../reply.ts'
import type { Config } from '../settings.ts'
import { videosSchema } from './videos-schema.ts'

export interface VideosOptions {
  readonly config: Config
  readonly lifecycle: Lifecycle
  readonly thread: ThreadState
}

const DEFAULT_ERROR_STATUS = 503

const refuse = (error: GoogleError, { pretty }: Prepared) => createReply(error.status, renderError(error, pretty))

/** `GET /youtube/v3/videos`: videos by id, as the YouTube Data API v3 gives them. */
export function addVideosRoute(app: App, { config, lifecycle, thread }: VideosOptions): void {
  const { meter } = thread
  const keys = new Set(config.apiKeys)
  const replyTo = createReplies()
  const { deliver } = createDelivery(lifecycle)

  /** A call with a good key costs one unit, whatever the answer. */
  function answer(call: Prepared, headers: IncomingHttpHeaders): Reply {
    const key = call.key ?? headers['x-goog-api-key']
    if (typeof key !== 'string' || !keys.has(key)) return refuse(googleErrors.KEY_INVALID(), call)
    if (!meter.spend()) return refuse(googleErrors.QUOTA_EXCEEDED(), call)
    const { errorRate, errorStatus = DEFAULT_ERROR_STATUS, errorReason } = thread.state.faults
    if (errorRate && isFailing(meter.nextDraw(), errorRate)) {
      return refuse(googleErrorOf(errorStatus, 'Backend Error', errorReason), call)
    }
    const { reply } = call
    const known = headers['if-none-match']
    return known !== undefined && reply.etag && namesEtag(known, reply.etag) ? notModified(reply) : reply
  }

  app.get(
    '/youtube/v3/videos',
    {
      // Guarded by its key, so that Google's own client can call it.
      config: { access: 'host' },
      exposeHeadRoute: false,
      schema: videosSchema(config.apiKeys),
      // The schema is for the API's document: Google's errors about parameters are made by hand, in its order.
      validatorCompiler: () => () => true,
    },
    (request, reply) => {
      if (lifecycle.phase === 'draining') throw errors.DRAINING()
      const url = request.raw.url!
      const mark = url.indexOf('?')
      const call = replyTo(mark < 0 ? '' : url.slice(mark + 1), thread.now(), thread.state.faults.gone)
      meter.count(call.ids)
      const { headers } = request
      const recipient = { response: reply.raw, headers, extra: headersOf(reply) }
      // Past Fastify's `send`, which looks at every header again: 62,000 calls/s instead of 55,000.
      reply.hijack()
      deliver(recipient, answer(call, headers), thread.state.faults)
    },
  )
}

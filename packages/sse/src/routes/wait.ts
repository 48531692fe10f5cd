import { errors as house } from '@influencer-stats/runtime/errors'
import type { Guard } from '@influencer-stats/runtime/guard'
import { hookHeaders } from '@influencer-stats/runtime/hijack'
import { since, type App } from '@influencer-stats/runtime/http'
import { readReplies } from '@influencer-stats/runtime/replies'
import type { Lifecycle } from '@influencer-stats/runtime/service'
import type { CommonSettings } from '@influencer-stats/runtime/settings'
import type { FastifyRequest } from 'fastify'
import { readAdmission } from '../admission.ts'
import type { Broker } from '../broker/broker.ts'
import { errors } from '../errors.ts'
import { tooManyStreams } from '../streams.ts'
import { streamHeaders, type WaitOptions } from '../wait.ts'
import { waitQuery } from './schemas.ts'

export interface WaitRouteOptions extends WaitOptions {
  readonly broker: Broker
  readonly guard: Guard
  readonly lifecycle: Lifecycle
  readonly config: CommonSettings
}

const URL = '/wait'
const text = { schema: { type: 'string' } } as const

/** Opens a stream. The raw door opens those that ask plainly; what is wrong with the others is said here. */
export function waitRoute(app: App, options: WaitRouteOptions): void {
  const { streams, history, encoders, broker, guard, lifecycle, config } = options
  const headersOf = hookHeaders(config)

  /** The guard's part, because EventSource sends no headers: the token may stand in the query. */
  async function admit(request: FastifyRequest): Promise<void> {
    const { access_token: token } = request.query as { access_token?: string | string[] }
    if (lifecycle.phase === 'draining') throw house.DRAINING()
    const problem = guard.check(request.headers, 'read', typeof token === 'string' ? token : undefined)
    if (problem) throw problem
  }

  app.get(
    URL,
    {
      config: { access: 'open', selfMeasured: true },
      exposeHeadRoute: false,
      preValidation: admit,
      schema: {
        tags: ['streams'],
        summary: 'Opens a stream',
        description:
          'Sends the values of its topics as they are put. `Accept: text/html` gives a page that calls `console.log`. ' +
          '`Last-Event-ID` resumes: what is no longer kept is announced by `event: gap`.',
        querystring: waitQuery,
        response: {
          200: { description: 'The stream.', content: { 'text/event-stream': text, 'text/html': text } },
          204: { type: 'null', description: 'All streams were closed: stay away.' },
          ...readReplies(house.VALIDATION_FAILED, errors.TOO_MANY_STREAMS),
        },
      },
    },
    async (request, reply) => {
      const { query, headers, ip } = request
      let admission = readAdmission(query, headers, history, encoders, false)
      if (admission.kind === 'ahead') {
        await broker.catchUp()
        admission = readAdmission(query, headers, history, encoders, true)
      }
      if (admission.kind !== 'stream') {
        figures.observe(204, since(request))
        return reply.code(204).send(null)
      }
      if (!streams.hasRoom(ip)) throw tooManyStreams()
      reply.hijack()
      reply.raw.writeHead(200, [...streamHeaders(admission.request.encoder), ...headersOf(reply)])
      streams.open(reply.raw, ip, admission.request)
      figures.observe(200, since(request))
      return reply
    },
  )
  const figures = app.figuresOf('GET', URL)
}

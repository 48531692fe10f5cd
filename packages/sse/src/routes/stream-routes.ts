import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import type { Broker } from '../broker/broker.ts'
import { formatClosingId } from '../core/event-id.ts'
import { logWriteErrors } from '../errors.ts'
import type { History } from '../history/history.ts'
import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'
import { connectionsReply, noQuery } from './schemas.ts'

const tags = ['streams']

/** Registers the routes that end all streams and count them. */
export function registerStreamRoutes(app: App, broker: Broker, history: History): void {
  const close = (method: 'GET' | 'POST', operationId: string) => ({
    method,
    url: '/closeall',
    config: { access: 'change' } as const,
    exposeHeadRoute: false,
    schema: {
      tags,
      operationId,
      summary: 'End all streams; their clients do not reconnect',
      querystring: noQuery,
      response: {
        200: {
          description: 'Every stream receives `event: closed` and ends.',
          headers: { 'event-id': { type: 'string' } },
          content: { 'text/plain': { schema: { type: 'string' } } },
        },
        ...buildChangeReplies(commonErrors.VALIDATION_FAILED, ...logWriteErrors, ...storeErrors),
      },
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const id = formatClosingId(history.epoch, await broker.closeAll())
      request.audit = { change: 'close', what: 'all streams' }
      return reply.type('text/plain; charset=utf-8').header('event-id', id).send('closed')
    },
  })
  app.route(close('POST', 'closeStreams'))
  // For clients that can only open a URL.
  app.route(close('GET', 'closeStreamsByGet'))

  // Concurrent requests share one serialized reply.
  const connections = coalesceCalls(async () => Buffer.from(JSON.stringify(await broker.countConnections())))
  app.get(
    '/connections',
    {
      schema: {
        tags,
        operationId: 'getConnections',
        summary: 'Numbers of open streams by thread and topic',
        querystring: noQuery,
        response: { 200: connectionsReply, ...buildReadReplies(commonErrors.VALIDATION_FAILED) },
      },
    },
    async (_request, reply) => reply.type('application/json; charset=utf-8').send((await connections()) as never),
  )
}

import { commonErrors } from '@influencer-stats/runtime/errors'
import { defineHotRoute, type BufferedReply } from '@influencer-stats/runtime/hot-route'
import type { App } from '@influencer-stats/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import type { Broker } from '../broker/broker.ts'
import type { ConnectionCounts } from '../client.ts'
import { formatClosingId } from '../core/event-id.ts'
import type { ReadScope } from '../core/read-scope.ts'
import { logWriteErrors } from '../errors.ts'
import type { History } from '../history/history.ts'
import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'
import { withGrant, type Grant, type Permissions } from '../tokens/permissions.ts'
import { tokenErrors } from '../tokens/token-errors.ts'
import { createTargetReader } from './target-reader.ts'
import { connectionsReply, noQuery } from './schemas.ts'

const tags = ['streams']
const CONNECTIONS_PATH = '/connections'
const JSON_TYPE = 'application/json; charset=utf-8'

/** Options of the routes that end all streams and count them. */
export interface StreamRoutesOptions {
  readonly broker: Broker
  readonly history: History
  readonly permissions: Permissions
}

/** Registers the routes that end all streams. */
export function registerCloseRoutes(app: App, { broker, history, permissions }: StreamRoutesOptions): void {
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
      await permissions.authorize('close', request.headers)
      const id = formatClosingId(history.epoch, await broker.closeAll())
      request.audit = { change: 'close', what: 'all streams' }
      return reply.type('text/plain; charset=utf-8').header('event-id', id).send('closed')
    },
  })
  app.route(close('POST', 'closeStreams'))
  // For clients that can only open a URL.
  app.route(close('GET', 'closeStreamsByGet'))
}

/** Creates the route that counts all streams. The list has only topics that the client may read. */
export function createConnectionsRoute({ broker, history, permissions }: StreamRoutesOptions) {
  /** True if the client may read private updates of a topic, or if it may read the topic's current value. */
  function canList(reader: ReadScope, topic: string): boolean {
    if (reader.canRead({ topic, more: { isPrivate: true } })) return true
    const event = history.getCurrent(topic)
    return event !== undefined && reader.canRead(event)
  }

  function serialize(counts: ConnectionCounts, reader: ReadScope): Buffer {
    const topics = counts.topics.filter(({ topic }) => canList(reader, topic))
    const sum = (list: typeof counts.topics) => list.reduce((all, { streams }) => all + streams, 0)
    const others = counts.others + sum(counts.topics) - sum(topics)
    return Buffer.from(JSON.stringify({ ...counts, topics, others }))
  }

  // Concurrent requests share one count, and those with the same rights one serialized reply.
  const count = coalesceCalls(async () => {
    const counts = await broker.countConnections()
    const bodies = new Map<ReadScope, Buffer>()
    return (reader: ReadScope): Buffer => {
      const body = bodies.get(reader) ?? serialize(counts, reader)
      bodies.set(reader, body)
      return body
    }
  })

  async function answer({ reader }: Grant): Promise<BufferedReply> {
    const toBody = await count()
    return { status: 200, headers: [], type: JSON_TYPE, body: toBody(reader) }
  }

  return defineHotRoute<true>({
    method: 'GET',
    url: CONNECTIONS_PATH,
    schema: {
      tags,
      operationId: 'getConnections',
      summary: 'Numbers of open streams by thread and topic',
      description: 'The list has the topics that the client may read; `others` counts the streams of all other topics.',
      querystring: noQuery,
      response: { 200: connectionsReply, ...buildReadReplies(commonErrors.VALIDATION_FAILED, ...tokenErrors) },
    },
    match: createTargetReader<true>(CONNECTIONS_PATH, noQuery),
    read: () => true,
    hasServiceToken: permissions.hasServiceToken,
    answer: (_query, { headers }) => withGrant(permissions.authorize('list', headers), answer),
  })
}

import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies } from '@influencer-stats/runtime/problem-schemas'
import { errors } from '../errors.ts'
import { readFlag, readQuery } from './read-query.ts'
import { withoutValidation } from './schemas.ts'

/**
 * Registers the route that stops all writes, or allows them.
 * @param setStopped undefined if this service cannot stop writes
 */
export function registerStopRoute(app: App, setStopped: ((isStopped: boolean) => Promise<void>) | undefined): void {
  app.put(
    '/v0/writes',
    {
      ...withoutValidation,
      schema: {
        tags: ['system'],
        operationId: 'setWritesStopped',
        summary: 'Stop all writes, also after a restart, or allow them',
        description:
          'After the reply to `stopped=true`, every acknowledged write is visible, and all writes are refused with 503 ' +
          '`WRITES_STOPPED`. Not for a cluster. See `pnpm kv export --stop-writes`.',
        querystring: {
          type: 'object',
          required: ['stopped'],
          additionalProperties: false,
          properties: { stopped: { type: 'boolean', description: 'True to refuse writes.', examples: [false] } },
        },
        response: {
          204: { type: 'null', description: 'Done.' },
          ...buildChangeReplies(errors.QUERY_INVALID, errors.STOP_NOT_SUPPORTED),
        },
      },
    },
    async (request, reply) => {
      const value = readQuery(request.query, ['stopped'])('stopped')
      if (value === undefined) throw errors.QUERY_INVALID('"stopped" must be true or false; received no value')
      const isStopped = readFlag(value, 'stopped')
      if (!setStopped) throw errors.STOP_NOT_SUPPORTED()
      request.audit = { change: isStopped ? 'stop' : 'allow', what: 'writes' }
      await setStopped(isStopped)
      return reply.code(204).send(null)
    },
  )
}

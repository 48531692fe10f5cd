import { holdOf, type Budget } from '@influencer-stats/runtime/budget'
import type { App } from '@influencer-stats/runtime/http'
import { readReplies } from '@influencer-stats/runtime/replies'
import { headersOf } from '@influencer-stats/runtime/streamed'
import { errors } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { readCount, readQuery, readWanted, requireKey } from './read-query.ts'
import { bounds, bytes, freshness, octets, undocumentedChecks } from './schemas.ts'
import { streamScan } from './stream.ts'

const URL = '/v0/entities'
const NDJSON = 'application/x-ndjson'

/** Entries in the order of their keys. @param sendTimeout how long a client may take for a part of its reply (ms) */
export function entitiesRoutes(app: App, store: Store, budget: Budget, sendTimeout: number): void {
  app.get(
    URL,
    {
      ...undocumentedChecks,
      config: { cost: 10 },
      exposeHeadRoute: false,
      schema: {
        tags: ['entities'],
        operationId: 'listEntities',
        summary: 'Entries in the order of their keys, as they are when the reply begins',
        description:
          'By default a chunk of the chunked coding an entry: its key, a newline, its value. With `Accept: ' +
          `${NDJSON}\` a line an entry, which \`POST /v0/batch\` takes as it is.`,
        querystring: {
          type: 'object',
          required: ['start'],
          additionalProperties: false,
          properties: {
            ...bounds,
            ...freshness,
            limit: { type: 'integer', minimum: 1, maximum: 999_999_999, description: 'At most this many.' },
          },
        },
        response: {
          200: { description: 'The entries.', content: { ...octets, [NDJSON]: { schema: bytes } } },
          ...readReplies(errors.QUERY_INVALID, errors.KEY_TOO_LARGE, errors.LOG_BEHIND, errors.LOG_UNAVAILABLE),
        },
      },
    },
    async (request, reply) => {
      const parameter = readQuery(request.query, ['start', 'end', 'limit', 'after', 'linearizable'])
      const start = requireKey(parameter('start'), 'start')
      const end = parameter('end')
      const limit = readCount(parameter('limit'), 'limit')
      const wanted = readWanted(parameter)
      if (wanted) await store.replica?.seen(wanted)
      const scan = store.scan({ start, ...(end && { end: requireKey(end, 'end') }), ...(limit && { limit }) })
      // HTTP/1.0 has no chunks to put entries in.
      const asLines = request.headers.accept?.includes(NDJSON) || request.raw.httpVersion === '1.0'
      await streamScan(scan, asLines ? 'lines' : 'chunks', reply.raw, {
        headers: [...headersOf(reply), ...(scan.sequence === undefined ? [] : ['sequence', String(scan.sequence)])],
        timeout: sendTimeout,
        hold: holdOf(request.raw, budget),
        begin: () => reply.hijack(),
      })
    },
  )
}

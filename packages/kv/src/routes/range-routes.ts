import { getHold, type Budget } from '@influencer-stats/runtime/budget'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { getReplyHeaders } from '@influencer-stats/runtime/stream-reply'
import { errors } from '../errors.ts'
import type { KvStore } from '../store/store.ts'
import { readOnSnapshot } from './read-on-snapshot.ts'
import { countEntries, openPage } from './range-summary.ts'
import { NDJSON_TYPE, selectRangeFormat } from './range-format.ts'
import { RANGE_PARAMETERS, readRange } from './read-range.ts'
import { readFlag, readQuery, readConsistency } from './read-query.ts'
import { bytes, consistencyParameters, octets, rangeParameters, withoutValidation } from './schemas.ts'
import { streamScan } from './stream-scan.ts'

const ENTITIES_URL = '/v0/entities'
const PARAMETERS = [...RANGE_PARAMETERS, 'keys', 'count', ...Object.keys(consistencyParameters)]
const EXAMPLE_LINES = '{"op":"put","id":"greeting","value":"hello"}\n'

/**
 * Registers the route of ranges.
 * @param sendTimeout time that a client may take to receive 256 KiB of its reply (ms)
 */
export function registerRangeRoutes(app: App, store: KvStore, budget: Budget, sendTimeout: number): void {
  app.get(
    ENTITIES_URL,
    {
      ...withoutValidation,
      config: { cost: 10 },
      schema: {
        tags: ['entities'],
        operationId: 'listEntities',
        summary: 'List entries in the order of their keys, from one snapshot',
        description:
          'One NDJSON line per entry, in the format of `POST /v0/batch`. With `Accept: application/octet-stream` the ' +
          'reply has one chunk (of the chunked coding) per entry: the key, a newline and the value. A client without ' +
          '`User-Agent` that accepts any type, such as wrk2, also gets this format. With a `limit` of up to 1,000, the header ' +
          '`next` has the last key of the page, percent-encoded, if more entries follow. Use it as `cursor` for the next page.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: { ...rangeParameters, ...consistencyParameters },
        },
        response: {
          200: {
            description: 'The entries; with `count`, their number.',
            content: {
              [NDJSON_TYPE]: { schema: { ...bytes, examples: [EXAMPLE_LINES] } },
              ...octets,
              'application/json': { schema: countSchema },
            },
          },
          ...buildReadReplies(
            errors.QUERY_INVALID,
            errors.KEY_TOO_LARGE,
            errors.SEQUENCE_WAIT_TIMEOUT,
            errors.LOG_UNAVAILABLE,
          ),
        },
      },
    },
    async (request, reply) => {
      const parameter = readQuery(request.query, PARAMETERS)
      const range = { ...readRange(parameter), keysOnly: readFlag(parameter('keys'), 'keys') }
      const isCount = readFlag(parameter('count'), 'count')
      return readOnSnapshot(store, readConsistency(parameter), reply, async (snapshot) => {
        if (isCount) {
          reply.header('cache-control', 'no-cache')
          return { count: await countEntries(snapshot, range, () => reply.raw.destroyed) }
        }
        const { scan, next } = await openPage(snapshot, range)
        if (next !== undefined) reply.header('next', encodeURIComponent(next))
        await streamScan(scan, selectRangeFormat(request.headers, request.raw.httpVersion), reply.raw, {
          headers: getReplyHeaders(reply),
          keysOnly: range.keysOnly,
          timeout: sendTimeout,
          hold: getHold(request.raw, budget),
          begin: () => reply.hijack(),
        })
        return undefined
      })
    },
  )
}

const countSchema = {
  type: 'object',
  title: 'Count',
  required: ['count'],
  additionalProperties: false,
  properties: { count: { type: 'integer', description: 'Number of entries in the range.', examples: [3] } },
} as const

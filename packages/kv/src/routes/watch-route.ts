import { defineHotRoute, type HotRoute, type StreamReply } from '@influencer-stats/runtime/hot-route'
import { isEventSource } from '@influencer-stats/runtime/is-event-source'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { parseQuery, type KvQuery } from '../core/parse-query.ts'
import type { KeyRange } from '../core/range-tree.ts'
import { errors } from '../errors.ts'
import type { KvStore } from '../store/store.ts'
import type { Watchers } from '../watch/watchers.ts'
import { readFlag, readQuery, readSequence } from './read-query.ts'
import { BOUND_PARAMETERS, readBounds } from './read-range.ts'
import { bounds, consistencyParameters, TRUE_OR_FALSE, withoutValidation } from './schemas.ts'

const WATCH_URL = '/v0/watch'
const TARGET_PREFIX = `${WATCH_URL}?`
const PARAMETER_NAMES = [...BOUND_PARAMETERS, 'after', 'progress']
const STREAM_HEADERS = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-store, no-transform'],
  ['x-accel-buffering', 'no'],
  ['x-content-type-options', 'nosniff'],
].flat()

/** Parameters of a stream. */
interface WatchRequest {
  readonly range: KeyRange
  readonly after: number | undefined
  readonly progress: boolean
}

/** Creates the route that streams the changes of a range. */
export function createWatchRoute(store: KvStore, watchers: Watchers): HotRoute {
  return defineHotRoute<WatchRequest>({
    method: 'GET',
    url: WATCH_URL,
    head: false,
    canStream: true,
    ...withoutValidation,
    schema: {
      tags: ['entities'],
      operationId: 'watchEntities',
      summary: 'Stream the changes of a range as server-sent events',
      description:
        'Events `put`, `delete` and `expire` (the expiry of a value changed), in the order of the changes. Their data is ' +
        'a line in the format of `POST /v0/batch`. The last event of a sequence has the sequence as its `id`. ' +
        '`Last-Event-ID` or `after` resumes the stream.',
      querystring: {
        type: 'object',
        additionalProperties: false,
        properties: {
          ...bounds,
          after: {
            ...consistencyParameters.after,
            description: 'Begin after this sequence; by default with the next change.',
          },
          progress: {
            ...TRUE_OR_FALSE,
            description:
              'With each heartbeat, send an `id` without an event: the sequence from which the stream would resume. Some clients take it for an empty message.',
          },
        },
      },
      response: {
        200: { description: 'The stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
        ...buildReadReplies(
          errors.QUERY_INVALID,
          errors.SEQUENCE_EXPIRED,
          errors.KEY_TOO_LARGE,
          errors.TOO_MANY_WATCHERS,
          errors.SEQUENCE_WAIT_TIMEOUT,
          errors.LOG_UNAVAILABLE,
        ),
      },
    },
    match(target) {
      if (!target.startsWith(TARGET_PREFIX)) return undefined
      try {
        return readTarget(parseQuery(target.slice(TARGET_PREFIX.length)))
      } catch {
        return undefined
      }
    },
    read: ({ query }) => readTarget(query as KvQuery),
    async answer({ range, after: firstSequence, progress }, { headers }): Promise<StreamReply> {
      // A client that reconnects sends the same URL, and the later sequence as `Last-Event-ID`.
      const after = readSequence(String(headers['last-event-id'] || '') || undefined, 'Last-Event-ID') ?? firstSequence
      if (after !== undefined) await store.replica?.waitForConsistency({ after })
      await watchers.checkCapacity(after)
      return {
        status: 200,
        headers: STREAM_HEADERS,
        open: (to, head, framing) =>
          watchers.open(to, head, { framing, range, after, reportsProgress: progress || isEventSource(headers) }),
      }
    },
  })
}

/** Reads the parameters of a query string. @throws QUERY_INVALID, KEY_TOO_LARGE */
function readTarget(query: KvQuery): WatchRequest {
  const parameter = readQuery(query, PARAMETER_NAMES)
  const { start, end } = readBounds(parameter)
  return {
    range: { start: start.toString('latin1'), ...(end && { end: end.toString('latin1') }) },
    after: readSequence(parameter('after')?.toString(), 'after'),
    progress: readFlag(parameter('progress'), 'progress'),
  }
}

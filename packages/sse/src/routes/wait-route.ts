import { commonErrors } from '@influencer-stats/runtime/errors'
import {
  defineHotRoute,
  type HotRequest,
  type BufferedReply,
  type StreamReply,
} from '@influencer-stats/runtime/hot-route'
import { CHUNKS } from '@influencer-stats/runtime/framing'
import type { Problem } from '@influencer-stats/runtime/problems'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { parseSubscription, type Encoders } from './parse-subscription.ts'
import type { Broker } from '../broker/broker.ts'
import { describeMalformed, isMalformed } from '../core/parse-query.ts'
import { logReadErrors, errors } from '../errors.ts'
import { withoutChunks } from '../encoder/without-chunks.ts'
import type { History } from '../history/history.ts'
import { createTooManyStreamsError, type Streams } from '../hub/streams.ts'
import type { StreamRequest } from '../hub/stream-request.ts'
import { withGrant, type Grant, type Permissions } from '../tokens/permissions.ts'
import { tokenErrors } from '../tokens/token-errors.ts'
import { createTargetReader } from './target-reader.ts'
import { waitQuery, type WaitQuery } from './schemas.ts'

/** Options of the wait route. */
export interface WaitOptions {
  readonly streams: Streams
  readonly history: History
  readonly encoders: Encoders
  readonly broker: Broker
  readonly permissions: Permissions
}

const WAIT_PATH = '/wait'
const text = { schema: { type: 'string' } } as const
const STREAM_HEADERS = [
  ['cache-control', 'no-store, no-transform'],
  ['x-accel-buffering', 'no'],
  ['x-content-type-options', 'nosniff'],
].flat()
/** Reply to a client that reconnects although it has received `event: closed`. */
export const NO_RECONNECT: BufferedReply = { status: 204, headers: [], body: '' }

const toPlainStream = (stream: StreamRequest): StreamRequest => ({ ...stream, encoder: withoutChunks(stream.encoder) })

/**
 * Creates the reply that opens a stream.
 * @param createFullError creates the error for a client whose stream would exceed a limit
 */
export function createStreamReply(
  streams: Streams,
  stream: StreamRequest,
  request: HotRequest,
  createFullError: () => Problem,
  headers: readonly string[] = [],
): StreamReply {
  const address = request.getAddress()
  if (!streams.canOpen(address)) throw createFullError()
  return {
    status: 200,
    headers: ['content-type', stream.encoder.contentType, ...STREAM_HEADERS, ...headers],
    open: (connection, head, framing) =>
      streams.open(connection, address, framing === CHUNKS ? stream : toPlainStream(stream), head),
  }
}

/** Creates the route of `/wait`, which opens a stream. */
export function createWaitRoute({ streams, history, encoders, broker, permissions }: WaitOptions) {
  function open(query: WaitQuery, request: HotRequest, access: Grant) {
    const subscribe = (isCaughtUp: boolean) => {
      const subscription = parseSubscription(query, request.headers, history, encoders, access, isCaughtUp)
      if (subscription.kind === 'closed') return NO_RECONNECT
      return subscription.kind === 'stream'
        ? createStreamReply(streams, subscription.request, request, createTooManyStreamsError)
        : undefined
    }
    return subscribe(false) ?? broker.catchUp().then(() => subscribe(true)!)
  }

  return defineHotRoute<WaitQuery>({
    method: 'GET',
    url: WAIT_PATH,
    head: false,
    canStream: true,
    schema: {
      tags: ['streams'],
      operationId: 'openStream',
      summary: 'Open a stream',
      description:
        'The stream sends the values of its topics. With `Accept: text/html` the reply is an endless page that calls `console.log` with each value. ' +
        '`Last-Event-ID` resumes the stream; `event: gap` replaces values that are no longer in the history.',
      querystring: waitQuery,
      response: {
        200: { description: 'The stream.', content: { 'text/event-stream': text, 'text/html': text } },
        204: { type: 'null', description: 'The operator closed all streams: do not reconnect.' },
        ...buildReadReplies(commonErrors.VALIDATION_FAILED, errors.TOO_MANY_STREAMS, ...logReadErrors, ...tokenErrors),
      },
    },
    match: createTargetReader<WaitQuery>(WAIT_PATH, waitQuery),
    read: ({ query }) => query as WaitQuery,
    // EventSource cannot send headers.
    getToken: ({ access_token: token }) => token,
    hasServiceToken: permissions.hasServiceToken,
    answer(query, request) {
      if (isMalformed(query)) throw commonErrors.VALIDATION_FAILED(`querystring: ${describeMalformed(query)}`)
      const grant = permissions.authorize('read', request.headers, query.access_token)
      return withGrant(grant, (access) => open(query, request, access))
    },
  })
}

import { commonErrors as house } from '@influencer-stats/runtime/errors'
import {
  defineHotRoute,
  type HotRequest,
  type BufferedReply,
  type StreamReply,
} from '@influencer-stats/runtime/hot-route'
import type { Problem } from '@influencer-stats/runtime/problems'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { readAdmission, type Encoders } from '../admission.ts'
import type { Broker } from '../broker/broker.ts'
import type { Reader } from '../core/reader.ts'
import { behindFaults, errors } from '../errors.ts'
import type { History } from '../history/history.ts'
import { tooManyStreams, type Streams } from '../streams.ts'
import type { StreamRequest } from '../stream-request.ts'
import type { Bearer } from '../tokens/access-tokens.ts'
import type { Bearers } from '../tokens/bearers.ts'
import { tokenFaults } from '../tokens/refusals.ts'
import { createTargetReader } from './read-target.ts'
import { waitQuery, type WaitQuery } from './schemas.ts'

/** What opens streams. */
export interface WaitOptions {
  readonly streams: Streams
  readonly history: History
  readonly encoders: Encoders
  readonly broker: Broker
  readonly bearers: Bearers
  /** Who waits without a token of a kind that is judged here. */
  readonly reader: Reader
}

const URL = '/wait'
const text = { schema: { type: 'string' } } as const
const HEADERS = [
  ['cache-control', 'no-store, no-transform'],
  ['x-accel-buffering', 'no'],
  ['x-content-type-options', 'nosniff'],
].flat()
/** Whoever was told that all streams were closed. */
export const STAY_AWAY: BufferedReply = { status: 204, headers: [], body: '' }

/** Opens a stream if there is room for one more. @param full what is answered if not */
export function openReply(
  streams: Streams,
  stream: StreamRequest,
  from: HotRequest,
  full: () => Problem,
  headers: readonly string[] = [],
): StreamReply {
  const address = from.getAddress()
  if (!streams.hasRoom(address)) throw full()
  return {
    status: 200,
    headers: ['content-type', stream.encoder.contentType, ...HEADERS, ...headers],
    open: (connection, head) => streams.open(connection, address, stream, head),
  }
}

/** Opens a stream. */
export function waitRoute({ streams, history, encoders, broker, bearers, reader }: WaitOptions) {
  function open(query: WaitQuery, from: HotRequest, by: Pick<Bearer, 'reader'> & Partial<Bearer>) {
    const admit = (caughtUp: boolean) => {
      const admission = readAdmission(query, from.headers, history, encoders, by, caughtUp)
      if (admission.kind === 'closed') return STAY_AWAY
      return admission.kind === 'stream' ? openReply(streams, admission.request, from, tooManyStreams) : undefined
    }
    return admit(false) ?? broker.catchUp().then(() => admit(true)!)
  }

  return defineHotRoute<WaitQuery>({
    method: 'GET',
    url: URL,
    head: false,
    canStream: true,
    schema: {
      tags: ['streams'],
      operationId: 'openStream',
      summary: 'Opens a stream',
      description:
        'Sends the values of its topics as they are put. `Accept: text/html` gives a page that calls `console.log`. ' +
        '`Last-Event-ID` resumes: what is no longer kept is announced by `event: gap`.',
      querystring: waitQuery,
      response: {
        200: { description: 'The stream.', content: { 'text/event-stream': text, 'text/html': text } },
        204: { type: 'null', description: 'All streams were closed: stay away.' },
        ...buildReadReplies(house.VALIDATION_FAILED, errors.TOO_MANY_STREAMS, ...behindFaults, ...tokenFaults),
      },
    },
    match: createTargetReader<WaitQuery>(URL, waitQuery),
    read: ({ query }) => query as WaitQuery,
    // EventSource sends no headers.
    getToken: ({ access_token: token }) => token,
    hasServiceToken: bearers.judges,
    answer(query, request) {
      const bearer = bearers.judges(request.headers) ? bearers.of(request.headers, false) : undefined
      return bearer ? bearer.then((known) => open(query, request, known)) : open(query, request, { reader })
    },
  })
}

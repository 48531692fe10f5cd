import { errors as house } from '@influencer-stats/runtime/errors'
import { defineHotRoute, type HotRequest, type Reply, type StreamReply } from '@influencer-stats/runtime/hot-route'
import { readReplies } from '@influencer-stats/runtime/replies'
import { readAdmission, type Admission, type Encoders } from '../admission.ts'
import type { Broker } from '../broker/broker.ts'
import { PUBLIC_READER } from '../core/reader.ts'
import { errors } from '../errors.ts'
import type { History } from '../history/history.ts'
import { tooManyStreams, type Streams } from '../streams.ts'
import { createTargetReader } from './read-target.ts'
import { waitQuery, type WaitQuery } from './schemas.ts'

/** What opens streams. */
export interface WaitOptions {
  readonly streams: Streams
  readonly history: History
  readonly encoders: Encoders
  readonly broker: Broker
}

const URL = '/wait'
const text = { schema: { type: 'string' } } as const
const HEADERS = [
  ['cache-control', 'no-store, no-transform'],
  ['x-accel-buffering', 'no'],
  ['x-content-type-options', 'nosniff'],
].flat()
const STAY_AWAY: Reply = { status: 204, headers: [], body: '' }

/** Opens a stream. */
export function waitRoute({ streams, history, encoders, broker }: WaitOptions) {
  function open({ request }: Admission & { kind: 'stream' }, from: HotRequest): StreamReply {
    const address = from.address()
    if (!streams.hasRoom(address)) throw tooManyStreams()
    return {
      status: 200,
      headers: ['content-type', request.encoder.contentType, ...HEADERS],
      open: (connection, head) => streams.open(connection, address, request, head),
    }
  }

  return defineHotRoute<WaitQuery>({
    method: 'GET',
    url: URL,
    head: false,
    streams: true,
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
    match: createTargetReader<WaitQuery>(URL, waitQuery),
    read: ({ query }) => query as WaitQuery,
    // EventSource sends no headers.
    token: ({ access_token: token }) => token,
    answer(query, request) {
      const admit = (caughtUp: boolean) => {
        const admission = readAdmission(query, request.headers, history, encoders, PUBLIC_READER, caughtUp)
        if (admission.kind === 'closed') return STAY_AWAY
        return admission.kind === 'stream' ? open(admission, request) : undefined
      }
      return admit(false) ?? broker.catchUp().then(() => admit(true)!)
    },
  })
}

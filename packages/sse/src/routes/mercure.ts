import { commonErrors as house } from '@influencer-stats/runtime/errors'
import {
  defineHotRoute,
  type HotRequest,
  type HotRoute,
  type BufferedReply,
  type StreamReply,
} from '@influencer-stats/runtime/hot-route'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { readResumption, resumedFrom } from '../admission.ts'
import type { Broker } from '../broker/broker.ts'
import { eventId } from '../core/event-id.ts'
import { isMalformed, parseQuery, type Query } from '../core/query.ts'
import { PUBLIC_READER } from '../core/reader.ts'
import { readSubscription } from '../core/subscription.ts'
import { HUB_PATH } from '../core/topic-url.ts'
import { readUpdate } from '../core/update.ts'
import type { Encoder } from '../encoder/encoder.ts'
import { mercureId } from '../encoder/mercure.ts'
import { behindFaults, errors, logFaults } from '../errors.ts'
import type { History } from '../history/history.ts'
import type { Streams } from '../streams.ts'
import type { Bearer } from '../tokens/access-tokens.ts'
import type { Bearers } from '../tokens/bearers.ts'
import { insufficientScope, invalidRequest, noToken } from '../tokens/refusals.ts'
import { createTargetReader } from './read-target.ts'
import { mercureQuery } from './schemas.ts'
import { decodeText } from './values.ts'
import { openReply, STAY_AWAY } from './wait.ts'

export interface MercureOptions {
  readonly streams: Streams
  readonly history: History
  readonly encoder: Encoder
  readonly broker: Broker
  readonly bearers: Bearers
  /** Whether who shows no token may subscribe. */
  readonly anonymous: boolean
  /** Largest body of a POST (bytes). */
  readonly maxUpdate: number
  /** The hub's URL, for who asked this host. */
  base(host: string): string
}

const FORM_TYPE = 'application/x-www-form-urlencoded'
const tags = ['mercure']
const LAST_EVENT_ID = 'mercure-last-event-id'
const EARLIEST = 'earliest'
// What earlier drafts took in the address, where logs and histories keep it.
const TOKENS_IN_QUERY = ['access_token', 'authorization']

/** The Mercure protocol (draft 08): another way to open streams and to put values, on the same hub. */
export function mercureRoutes(options: MercureOptions): HotRoute[] {
  return [subscribeRoute(options), publishRoute(options)]
}

function subscribeRoute({ streams, history, encoder, broker, bearers, anonymous, base }: MercureOptions) {
  /** Nothing where this thread has yet to hear of what the client has seen. */
  function subscribe(query: Query, request: HotRequest, bearer: Bearer | undefined, caughtUp: boolean) {
    const selectors = readSubscription(query, base(String(request.headers.host)))
    if (typeof selectors === 'string') throw errors.INVALID_MATCHER(selectors)
    const reader = bearer?.reader ?? PUBLIC_READER
    const lastId = String(request.headers['last-event-id'] || query.last_event_id || '')
    const resumption = readResumption(lastId === EARLIEST ? '' : lastId, history, caughtUp)
    if (resumption.kind === 'closed') return STAY_AWAY
    if (resumption.kind === 'ahead') return undefined
    if (!streams.hub.hasRoom(selectors)) throw errors.PATTERN_LIMIT(undefined, { headers: { 'retry-after': '60' } })
    const resumeAfter = lastId === EARLIEST ? 0 : resumption.resumeAfter
    const stream = { encoder, selectors, reader, last: false, resumeAfter, expiresAt: bearer?.expiresAt }
    if (resumeAfter === undefined) return open(stream, request)
    const { lostUpTo, from } = resumedFrom(history, selectors, reader, resumeAfter, lastId === EARLIEST)
    const told = from === undefined ? EARLIEST : mercureId(eventId(history.epoch, from))
    return open({ ...stream, lostUpTo }, request, [LAST_EVENT_ID, told, 'access-control-expose-headers', LAST_EVENT_ID])
  }

  function open(
    stream: Parameters<typeof openReply>[1],
    request: HotRequest,
    headers: readonly string[] = [],
  ): StreamReply {
    const full = () => errors.STREAM_LIMIT(undefined, { headers: { 'retry-after': '5' } })
    return openReply(streams, stream, request, full, headers)
  }

  function answer(query: Query, request: HotRequest, bearer: Bearer | undefined) {
    const reply = subscribe(query, request, bearer, false)
    return reply ?? broker.catchUp().then(() => subscribe(query, request, bearer, true)!)
  }

  return defineHotRoute<Query>({
    method: 'GET',
    url: HUB_PATH,
    access: 'host',
    head: false,
    canStream: true,
    schema: {
      tags,
      operationId: 'subscribe',
      summary: 'Subscribes to topics, as the Mercure protocol has it',
      description:
        'The token comes in `Authorization: Bearer` or in the cookie `__Secure-mercure_access_token`. ' +
        '`Last-Event-ID`, or `last_event_id`, resumes; `Mercure-Last-Event-ID` then says from where.',
      querystring: mercureQuery,
      response: {
        200: {
          description: 'The stream.',
          headers: { 'Mercure-Last-Event-ID': { type: 'string' } },
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        204: { type: 'null', description: 'All streams were closed: stay away.' },
        ...buildReadReplies(
          house.VALIDATION_FAILED,
          errors.INVALID_MATCHER,
          errors.INVALID_REQUEST,
          errors.INVALID_TOKEN,
          errors.ORIGIN_REFUSED,
          errors.STREAM_LIMIT,
          errors.PATTERN_LIMIT,
          ...behindFaults,
        ),
      },
    },
    match: createTargetReader<Query>(HUB_PATH, mercureQuery),
    read: ({ query }) => query as Query,
    answer(query, request) {
      if (isMalformed(query)) throw errors.INVALID_MATCHER('the query cannot be read')
      if (TOKENS_IN_QUERY.some((name) => name in query))
        throw invalidRequest('a token does not belong into the address')
      const bearer = bearers.of(request.headers, false)
      if (bearer) return bearer.then((known) => answer(query, request, known))
      if (!anonymous) throw noToken()
      return answer(query, request, undefined)
    },
  })
}

function publishRoute({ broker, history, bearers, maxUpdate, base }: MercureOptions) {
  async function publish(request: HotRequest, { publish: granted }: Bearer): Promise<BufferedReply> {
    const form = parseQuery(decodeText(request.body))
    if (isMalformed(form)) throw errors.INVALID_UPDATE('the form cannot be read')
    const update = readUpdate(form, base(String(request.headers.host)))
    if (typeof update === 'string') throw errors.INVALID_UPDATE(update)
    const { topic, value, more } = update
    if (![topic, ...(more?.alternates ?? [])].every((one) => granted.allows(one))) throw insufficientScope()
    const [seq] = await broker.publish([more ? [topic, value, more] : [topic, value]])
    const id = mercureId(eventId(history.epoch, seq!))
    return {
      status: 200,
      headers: ['x-content-type-options', 'nosniff'],
      type: 'text/plain; charset=utf-8',
      body: id,
    }
  }

  return defineHotRoute<Query>({
    method: 'POST',
    url: HUB_PATH,
    access: 'host',
    body: { limit: maxUpdate, tooLarge: house.BODY_TOO_LARGE, type: FORM_TYPE },
    // The form is read by hand.
    validatorCompiler: () => () => true,
    schema: {
      tags,
      operationId: 'publish',
      summary: 'Publishes an update, as the Mercure protocol has it',
      description:
        'The form has `topic`, once or several times, and may have `data`, `private`, `id`, `type` and `retry`.',
      body: { content: { [FORM_TYPE]: { schema: { type: 'string', examples: ['topic=news&data=42'] } } } },
      response: {
        200: { description: "The update's id.", content: { 'text/plain': { schema: { type: 'string' } } } },
        ...buildChangeReplies(
          errors.INVALID_UPDATE,
          errors.INVALID_REQUEST,
          errors.INVALID_TOKEN,
          errors.INSUFFICIENT_SCOPE,
          errors.ORIGIN_REFUSED,
          errors.VALUE_NOT_UTF8,
          errors.FALLEN_BEHIND,
          ...logFaults,
          ...storeErrors,
        ),
      },
    },
    match: createTargetReader<Query>(HUB_PATH, {}),
    read: ({ query }) => query as Query,
    answer(query, request) {
      if (TOKENS_IN_QUERY.some((name) => name in query))
        throw invalidRequest('a token does not belong into the address')
      const bearer = bearers.of(request.headers, true)
      if (!bearer) throw noToken()
      return bearer.then((known) => publish(request, known))
    },
  })
}

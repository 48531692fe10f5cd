import { toClientNetwork } from '@influencer-stats/runtime/client-network'
import { commonErrors } from '@influencer-stats/runtime/errors'
import {
  defineHotRoute,
  type HotRequest,
  type HotRoute,
  type BufferedReply,
  type StreamReply,
} from '@influencer-stats/runtime/hot-route'
import { isEventSource } from '@influencer-stats/runtime/is-event-source'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { findResumePoint, parseMercureResumption } from './parse-subscription.ts'
import type { Broker } from '../broker/broker.ts'
import { formatEventId } from '../core/event-id.ts'
import { describeMalformed, isMalformed, parseQuery, type SseQuery } from '../core/parse-query.ts'
import { listMatchers, parseMatchers } from '../core/parse-matchers.ts'
import { HUB_PATH } from '../core/patterns/topic-url.ts'
import { parseUpdate } from '../core/parse-update.ts'
import type { Encoder } from '../encoder/encoder.ts'
import { toMercureId } from '../encoder/mercure-encoder.ts'
import { logReadErrors, errors, logWriteErrors } from '../errors.ts'
import type { History } from '../history/history.ts'
import type { ActiveSubscriptions } from '../hub/active-subscriptions.ts'
import type { Streams } from '../hub/streams.ts'
import { withGrant, type Grant, type Permissions } from '../tokens/permissions.ts'
import { createScopeError, createInvalidRequestError } from '../tokens/token-errors.ts'
import { createTargetReader } from './target-reader.ts'
import { mercureQuery } from './schemas.ts'
import { decodeText } from './value-routes.ts'
import { createStreamReply, NO_RECONNECT } from './wait-route.ts'

export interface MercureOptions {
  readonly streams: Streams
  readonly history: History
  readonly encoder: Encoder
  readonly broker: Broker
  readonly permissions: Permissions
  /** True if clients of the protocol 0.x are served, too. */
  readonly isCompatible: boolean
  /** The active subscriptions of this thread. Undefined if they are not published. */
  readonly subscriptions: ActiveSubscriptions | undefined
  /** Maximum body of an update (bytes). */
  readonly maxUpdate: number
  /** Returns the URL of the hub for requests to this host. */
  getBaseUrl(host: string): string
}

const FORM_TYPE = 'application/x-www-form-urlencoded'
const tags = ['mercure']
const LAST_EVENT_ID_HEADER = 'mercure-last-event-id'
/** Its name in the protocol 0.x. */
const LEGACY_LAST_EVENT_ID_HEADER = 'last-event-id'
const EARLIEST_ID = 'earliest'
/**
 * Creates the routes of the Mercure protocol (draft 08): subscribe and publish. They use the values and streams of
 * `/wait` and `/put`.
 */
export function createMercureRoutes(options: MercureOptions): HotRoute[] {
  return [createSubscribeRoute(options), createPublishRoute(options)]
}

// Node reads a header as Latin-1, but EventSource sends the id of an event as UTF-8.
const decodeHeader = (value: unknown = '') => Buffer.from(String(value), 'latin1').toString()
// In a reply such an id is a URI: a header should contain only ASCII characters.
const toHeader = (id: string) => id.replace(/[^\x20-\x7e]+/g, encodeURIComponent)

/**
 * Returns the token in the URL, if the mode of compatibility accepts it.
 * @throws Problem `INVALID_REQUEST` for a token that is not accepted there
 */
function findTokenParameter({ authorization, ...query }: SseQuery, isCompatible: boolean): string | undefined {
  if ('access_token' in query || (authorization !== undefined && !isCompatible))
    throw createInvalidRequestError('the token must be in Authorization or in the cookie; received it in the address')
  if (Array.isArray(authorization)) throw createInvalidRequestError('repeated parameter authorization')
  return authorization
}

function createSubscribeRoute({
  streams,
  history,
  encoder,
  broker,
  permissions,
  isCompatible,
  subscriptions,
  getBaseUrl,
}: MercureOptions) {
  const resumeHeaders = isCompatible ? [LAST_EVENT_ID_HEADER, LEGACY_LAST_EVENT_ID_HEADER] : [LAST_EVENT_ID_HEADER]

  /** Returns the reply; undefined if this thread must catch up first. */
  function subscribe(
    query: SseQuery,
    request: HotRequest,
    { reader, expiresAt, ...grant }: Grant,
    isCaughtUp: boolean,
  ) {
    const selectors = parseMatchers(query, getBaseUrl(String(request.headers.host)), isCompatible)
    if (typeof selectors === 'string') throw errors.INVALID_MATCHER(selectors)
    const lastId = decodeHeader(request.headers['last-event-id']) || findIdParameter(query)
    const resumption = parseMercureResumption(lastId === EARLIEST_ID ? '' : lastId, history, isCaughtUp)
    if (resumption.kind === 'closed') return NO_RECONNECT
    if (resumption.kind === 'ahead') return undefined
    const client = grant.client ?? toClientNetwork(request.getAddress() ?? '')
    if (!streams.hub.canSubscribe(selectors, client))
      throw errors.PATTERN_LIMIT(undefined, { headers: { 'retry-after': '60' } })
    const resumeAfter = lastId === EARLIEST_ID ? 0 : resumption.resumeAfter
    const stream = {
      encoder,
      isEventSource: isEventSource(request.headers),
      selectors,
      reader,
      last: false,
      resumeAfter,
      expiresAt,
      client,
    }
    if (resumeAfter === undefined) return open(stream, request)
    const { lostUpTo, from } = findResumePoint(history, selectors, reader, resumeAfter, lastId === EARLIEST_ID)
    const isSameId = from === resumeAfter && resumption.isPublisherId
    const hubId = from === undefined ? EARLIEST_ID : toMercureId(formatEventId(history.epoch, from))
    const reportedId = isSameId ? toHeader(lastId) : hubId
    return open({ ...stream, lostUpTo }, request, [
      ...resumeHeaders.flatMap((name) => [name, reportedId]),
      'access-control-expose-headers',
      resumeHeaders.join(', '),
    ])
  }

  const findIdParameter = ({ last_event_id: id, lastEventID: legacyId }: SseQuery): string =>
    String(id ?? (isCompatible ? legacyId : undefined) ?? '')

  function open(
    stream: Parameters<typeof createStreamReply>[1],
    request: HotRequest,
    headers: readonly string[] = [],
  ): StreamReply {
    const createFullError = () => errors.STREAM_LIMIT(undefined, { headers: { 'retry-after': '5' } })
    return createStreamReply(streams, stream, request, createFullError, headers)
  }

  /** Adds the subscriptions of a stream to the active ones when it opens. */
  function announce(reply: StreamReply | BufferedReply, query: SseQuery, { getPayload }: Grant) {
    if (!subscriptions || !('open' in reply)) return reply
    const { open: openStream } = reply
    const openAnnounced: StreamReply['open'] = (connection, head, framing) => {
      openStream(connection, head, framing)
      subscriptions.add(connection, listMatchers(query, isCompatible), getPayload ?? (() => undefined))
    }
    return { ...reply, open: openAnnounced }
  }

  function answer(query: SseQuery, request: HotRequest, grant: Grant) {
    const reply = subscribe(query, request, grant, false)
    if (reply) return announce(reply, query, grant)
    return broker.catchUp().then(() => announce(subscribe(query, request, grant, true)!, query, grant))
  }

  return defineHotRoute<SseQuery>({
    method: 'GET',
    url: HUB_PATH,
    access: 'host',
    head: false,
    canStream: true,
    schema: {
      tags,
      operationId: 'subscribe',
      summary: 'Subscribes to topics, as the Mercure protocol defines it',
      description:
        'The token is in `Authorization: Bearer` or in the cookie `__Secure-mercure_access_token`. ' +
        '`Last-Event-ID`, or `last_event_id`, resumes; `Mercure-Last-Event-ID` is the id from which the stream resumes.',
      querystring: mercureQuery,
      response: {
        200: {
          description: 'The stream.',
          headers: { 'Mercure-Last-Event-ID': { type: 'string' } },
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        204: { type: 'null', description: 'All streams were closed; do not reconnect.' },
        ...buildReadReplies(
          commonErrors.VALIDATION_FAILED,
          errors.INVALID_MATCHER,
          errors.INVALID_REQUEST,
          errors.INVALID_TOKEN,
          errors.ORIGIN_REFUSED,
          errors.STREAM_LIMIT,
          errors.PATTERN_LIMIT,
          ...logReadErrors,
        ),
      },
    },
    match: createTargetReader<SseQuery>(HUB_PATH, mercureQuery),
    read: ({ query }) => query as SseQuery,
    answer(query, request) {
      if (isMalformed(query)) throw errors.INVALID_MATCHER(`query: ${describeMalformed(query)}`)
      const token = findTokenParameter(query, isCompatible)
      const grant = permissions.authorize('hubRead', request.headers, token)
      return withGrant(grant, (access) => answer(query, request, access))
    },
  })
}

function createPublishRoute({ broker, history, permissions, maxUpdate, isCompatible, getBaseUrl }: MercureOptions) {
  async function publish(request: HotRequest, { publish: allowed }: Grant): Promise<BufferedReply> {
    const form = parseQuery(decodeText(request.body))
    if (isMalformed(form)) throw errors.INVALID_UPDATE(`body: ${describeMalformed(form)}`)
    const update = parseUpdate(form, getBaseUrl(String(request.headers.host)))
    if (typeof update === 'string') throw errors.INVALID_UPDATE(update)
    const { topic, value, more } = update
    if (![topic, ...(more?.alternates ?? [])].every((one) => allowed.isAllowed(one))) throw createScopeError()
    const [seq] = await broker.publish([more ? [topic, value, more] : [topic, value]])
    const id = more?.id ?? toMercureId(formatEventId(history.epoch, seq!))
    return {
      status: 200,
      headers: ['x-content-type-options', 'nosniff'],
      type: 'text/plain; charset=utf-8',
      body: id,
    }
  }

  return defineHotRoute<SseQuery>({
    method: 'POST',
    url: HUB_PATH,
    access: 'host',
    body: { limit: maxUpdate, tooLarge: commonErrors.BODY_TOO_LARGE, type: FORM_TYPE },
    // The route itself parses and checks the form.
    validatorCompiler: () => () => true,
    schema: {
      tags,
      operationId: 'publish',
      summary: 'Publishes an update, as the Mercure protocol defines it',
      description:
        'Fields of the form: `topic`, which may be repeated, and optionally `data`, `private`, `id`, `type` and `retry`.',
      body: { content: { [FORM_TYPE]: { schema: { type: 'string', examples: ['topic=news&data=42'] } } } },
      response: {
        200: { description: 'Id of the update.', content: { 'text/plain': { schema: { type: 'string' } } } },
        ...buildChangeReplies(
          errors.INVALID_UPDATE,
          errors.INVALID_REQUEST,
          errors.INVALID_TOKEN,
          errors.INSUFFICIENT_SCOPE,
          errors.ORIGIN_REFUSED,
          errors.VALUE_NOT_UTF8,
          errors.FANOUT_BACKLOG_FULL,
          ...logWriteErrors,
          ...storeErrors,
        ),
      },
    },
    match: createTargetReader<SseQuery>(HUB_PATH, {}),
    read: ({ query }) => query as SseQuery,
    answer(query, request) {
      const token = findTokenParameter(query, isCompatible)
      const grant = permissions.authorize('hubPublish', request.headers, token)
      return withGrant(grant, (access) => publish(request, access))
    },
  })
}

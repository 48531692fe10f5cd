import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Broker } from '../broker/broker.ts'
import { formatEventId } from '../core/event-id.ts'
import { HUB_PATH } from '../core/patterns/topic-url.ts'
import { toMercureId } from '../encoder/mercure-encoder.ts'
import { errors } from '../errors.ts'
import type { History } from '../history/history.ts'
import { describeSubscription, JSON_LD_CONTEXT, SUBSCRIPTIONS_PATH } from '../hub/active-subscriptions.ts'
import type { Permissions } from '../tokens/permissions.ts'
import { createScopeError } from '../tokens/token-errors.ts'

export interface SubscriptionRouteOptions {
  readonly broker: Broker
  readonly history: History
  readonly permissions: Permissions
  /** True if the replies have the form of the protocol 0.x. */
  readonly isCompatible: boolean
}

type SubscriptionRequest = FastifyRequest<{ Querystring: { authorization?: string } }>

/** Registers the API of active subscriptions, as the Mercure protocol defines it. */
export function registerSubscriptionRoutes(app: App, options: SubscriptionRouteOptions): void {
  const { broker, history, permissions, isCompatible } = options

  async function answer(request: SubscriptionRequest, reply: FastifyReply) {
    const [path = ''] = request.raw.url!.split('?')
    const parameter = isCompatible ? request.query.authorization : undefined
    const { reader } = await permissions.authorize('hubList', request.headers, parameter)
    // The path of the request is the topic that the token must allow.
    if (!reader.canRead({ topic: path, more: { isPrivate: true } })) throw createScopeError()
    const lastId = history.seq === 0 ? 'earliest' : toMercureId(formatEventId(history.epoch, history.seq))
    const documents = (await broker.listSubscriptions()).map((one) => describeSubscription(one, true, isCompatible))
    const prefix = path === SUBSCRIPTIONS_PATH ? `${path}/` : path
    const exact = documents.find(({ id }) => id === path)
    const matching = documents.filter(({ id }) => id.startsWith(`${prefix.replace(/\/$/, '')}/`))
    const segments = path.slice(SUBSCRIPTIONS_PATH.length).split('/').length - 1
    if (!exact && segments === (isCompatible ? 2 : 3)) throw commonErrors.NOT_FOUND()
    const collection = { id: path, type: isCompatible ? 'Subscriptions' : 'subscriptions', subscriptions: matching }
    const body = exact ?? collection
    const attributes = isCompatible
      ? ''
      : `; last-event-id="${lastId}"; type="mercure"; content-type="application/json"`
    return reply
      .type(isCompatible ? 'application/ld+json' : 'application/json')
      .header('link', `<${HUB_PATH}>; rel="mercure"${attributes}`)
      .header('access-control-expose-headers', 'link')
      .header('cache-control', 'private, no-cache')
      .send(
        JSON.stringify(isCompatible ? { '@context': JSON_LD_CONTEXT, ...body, lastEventID: lastId } : body) as never,
      )
  }

  const schema = (operationId: string) => ({
    tags: ['mercure'],
    operationId,
    summary: 'Active subscriptions to the hub, as the Mercure protocol defines them',
    response: {
      200: {
        description: 'The subscriptions, or the one of the URL.',
        content: { 'application/json': { schema: {} }, 'application/ld+json': { schema: {} } },
      },
      ...buildReadReplies(
        errors.INVALID_REQUEST,
        errors.INVALID_TOKEN,
        errors.INSUFFICIENT_SCOPE,
        errors.ORIGIN_REFUSED,
        commonErrors.NOT_FOUND,
      ),
    },
  })
  const config = { access: 'host' } as const
  app.get(SUBSCRIPTIONS_PATH, { config, schema: schema('getSubscriptions') as never }, answer as never)
  app.get(`${SUBSCRIPTIONS_PATH}/*`, { config, schema: schema('getSubscription') as never }, answer as never)
}

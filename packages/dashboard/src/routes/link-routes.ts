import { describePattern } from '@influencer-stats/runtime/validation-errors'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import type { AppContext } from '@influencer-stats/runtime/service'
import { LINK_STATES, type CampaignReader, type LinkState } from '../upstream/campaign-reader.ts'
import { errors } from '../errors.ts'
import type { ShareLinks } from '../share-links.ts'
import type { ShareLink, DashboardMainMessage, DashboardThreadMessage } from '../messages.ts'
import type { Auth } from '../auth.ts'
import { guardRoute } from './guard-route.ts'

const tags = ['links']
const campaign = {
  type: 'string',
  pattern: describePattern(
    '^(?!\\.{1,2}$)[A-Za-z0-9._~-]{1,128}$',
    'an id of 1 to 128 letters, digits and . _ ~ - such as spring, other than . and ..',
  ),
} as const
const time = { type: 'string', format: 'date-time' } as const

const link = {
  type: 'object',
  title: 'Link',
  required: ['id', 'campaign', 'state', 'path', 'created', 'expires'],
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    campaign,
    name: { type: 'string', description: 'Name of the campaign at the creation of the link; absent if it had none.' },
    state: {
      type: 'string',
      enum: LINK_STATES,
      description:
        '`deleted`: the campaign was deleted, and the link shows nothing, even if another campaign has its id now. ' +
        '`unknown`: stats does not respond.',
    },
    path: { type: 'string', description: 'Path of the link on this origin.' },
    created: time,
    expires: time,
  },
} as const

interface LinkRouteOptions {
  readonly auth: Auth
  readonly links: ShareLinks
  readonly campaigns: CampaignReader
  readonly bus: AppContext<unknown, DashboardMainMessage, DashboardThreadMessage>['bus']
}

/** Registers the routes of share links. A link shows one campaign to every client that has it. */
export function registerLinkRoutes(app: App, { auth, links, campaigns, bus }: LinkRouteOptions): void {
  const toReply = (stored: ShareLink, state: LinkState) => ({
    id: stored.id,
    campaign: stored.campaign,
    ...(stored.name !== undefined && { name: stored.name }),
    state,
    path: `/shared/${links.createToken(stored)}`,
    created: new Date(stored.created).toISOString(),
    expires: new Date(stored.expires).toISOString(),
  })

  app.get(
    '/links',
    {
      ...guardRoute(auth, 'read'),
      schema: {
        tags,
        operationId: 'listLinks',
        summary: 'List valid links, newest first',
        description: 'Links of one campaign or of all, including deleted campaigns.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            campaign,
            limit: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
            after: { type: 'string', maxLength: 100, description: 'Cursor: `next` of the previous page.' },
          },
        },
        response: {
          200: {
            type: 'object',
            required: ['links'],
            additionalProperties: false,
            properties: {
              links: { type: 'array', items: link },
              next: { type: 'string', description: 'Cursor for `after` of the next page; absent on the last page.' },
            },
          },
          ...buildReadReplies(errors.SIGN_IN_NEEDED, commonErrors.VALIDATION_FAILED),
        },
      },
    },
    async ({ query: { campaign, after, limit = 100 } }) => {
      const { links: page, next } = links.list({ campaign, after, limit })
      const states = await campaigns.readStates(page)
      return { links: page.map((link, i) => toReply(link, states[i]!)), ...(next !== undefined && { next }) }
    },
  )

  app.post(
    '/links',
    {
      ...guardRoute(auth, 'change'),
      schema: {
        tags,
        operationId: 'makeLink',
        summary: 'Create a link to a campaign',
        body: {
          type: 'object',
          required: ['campaign'],
          additionalProperties: false,
          properties: { campaign, days: { type: 'integer', minimum: 1, maximum: 365, default: 30 } },
          examples: [{ campaign: 'spring', days: 30 }],
        },
        response: {
          201: link,
          ...buildChangeReplies(
            ...storeErrors,
            errors.SIGN_IN_NEEDED,
            errors.ORIGIN_UNKNOWN,
            errors.COLLECTION_NOT_FOUND,
            errors.TOO_MANY_LINKS,
            errors.SERVICE_UNREACHABLE,
            errors.SERVICE_SLOW,
            commonErrors.VALIDATION_FAILED,
          ),
        },
      },
    },
    async ({ body: { campaign, days = 30 } }, reply) => {
      const version = await campaigns.readVersion(campaign)
      return reply.code(201).send(toReply(await bus.call('addLink', version, days), 'valid'))
    },
  )

  app.delete(
    '/links/:id',
    {
      ...guardRoute(auth, 'change'),
      schema: {
        tags,
        operationId: 'revokeLink',
        summary: 'Revoke a link',
        params: {
          type: 'object',
          required: ['id'],
          properties: { id: { type: 'string', maxLength: 100, examples: ['4711'] } },
        },
        response: {
          204: { type: 'null', description: 'The link is invalid, and its open streams are closed.' },
          ...buildChangeReplies(
            ...storeErrors,
            errors.SIGN_IN_NEEDED,
            errors.ORIGIN_UNKNOWN,
            errors.LINK_UNKNOWN,
            commonErrors.VALIDATION_FAILED,
          ),
        },
      },
    },
    async ({ params }, reply) => {
      if (!(await bus.call('revokeLink', params.id)))
        throw errors.LINK_UNKNOWN('The link has expired or was revoked before.')
      return reply.code(204).send(null)
    },
  )
}

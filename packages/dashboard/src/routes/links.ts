import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { changeReplies, readReplies, storeFaults } from '@influencer-stats/runtime/replies'
import type { AppContext } from '@influencer-stats/runtime/service'
import { errors } from '../errors.ts'
import type { Links } from '../links.ts'
import type { Link, ToMain, ToThread } from '../messages.ts'
import type { Visitors } from '../visitors.ts'

const tags = ['links']
const campaign = { type: 'string', pattern: '^[A-Za-z0-9._~-]{1,64}$' } as const
const time = { type: 'string', format: 'date-time' } as const

const link = {
  type: 'object',
  title: 'Link',
  required: ['id', 'campaign', 'path', 'created', 'expires'],
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    campaign,
    path: { type: 'string', description: 'Where it leads, on this origin.' },
    created: time,
    expires: time,
  },
} as const

interface LinkOptions {
  readonly visitors: Visitors
  readonly links: Links
  readonly bus: AppContext<unknown, ToMain, ToThread>['bus']
}

/** Links that show one campaign to whoever has them. */
export function linkRoutes(app: App, { visitors, links, bus }: LinkOptions): void {
  const toReply = (made: Link) => ({
    id: made.id,
    campaign: made.campaign,
    path: `/shared/${links.tokenOf(made)}`,
    created: new Date(made.created).toISOString(),
    expires: new Date(made.expires).toISOString(),
  })
  const guarded = (access: 'read' | 'change') => ({
    config: { access: 'host' as const },
    async onRequest(request: object) {
      const fault = visitors.check(request as never, access)
      if (fault) throw fault
    },
  })

  app.get(
    '/links',
    {
      ...guarded('read'),
      schema: {
        tags,
        operationId: 'listLinks',
        summary: 'The links to a campaign that are out',
        querystring: { type: 'object', required: ['campaign'], additionalProperties: false, properties: { campaign } },
        response: {
          200: { type: 'object', required: ['links'], properties: { links: { type: 'array', items: link } } },
          ...readReplies(errors.SIGN_IN_NEEDED, house.VALIDATION_FAILED),
        },
      },
    },
    async ({ query }) => ({ links: links.of(query.campaign).map(toReply) }),
  )

  app.post(
    '/links',
    {
      ...guarded('change'),
      schema: {
        tags,
        operationId: 'makeLink',
        summary: 'Make a link to a campaign',
        body: {
          type: 'object',
          required: ['campaign'],
          additionalProperties: false,
          properties: { campaign, days: { type: 'integer', minimum: 1, maximum: 365, default: 30 } },
        },
        response: {
          201: link,
          ...changeReplies(
            ...storeFaults,
            errors.SIGN_IN_NEEDED,
            errors.ORIGIN_UNKNOWN,
            errors.LINKS_FULL,
            house.VALIDATION_FAILED,
          ),
        },
      },
    },
    async ({ body }, reply) =>
      reply.code(201).send(toReply(await bus.call('addLink', { campaign: body.campaign, birth: '' }, body.days ?? 30))),
  )

  app.delete(
    '/links/:id',
    {
      ...guarded('change'),
      schema: {
        tags,
        operationId: 'revokeLink',
        summary: 'Make a link invalid',
        params: { type: 'object', required: ['id'], properties: { id: { type: 'string', maxLength: 100 } } },
        response: {
          204: { type: 'null', description: 'It no longer leads anywhere, and what was open by it is closed.' },
          ...changeReplies(
            ...storeFaults,
            errors.SIGN_IN_NEEDED,
            errors.ORIGIN_UNKNOWN,
            errors.LINK_UNKNOWN,
            house.VALIDATION_FAILED,
          ),
        },
      },
    },
    async ({ params }, reply) => {
      if (!(await bus.call('revokeLink', params.id))) throw errors.LINK_UNKNOWN()
      return reply.code(204).send(null)
    },
  )
}

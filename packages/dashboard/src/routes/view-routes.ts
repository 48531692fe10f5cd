import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import type { AppContext } from '@influencer-stats/runtime/service'
import { describePattern } from '@influencer-stats/runtime/validation-errors'
import type { Auth } from '../auth.ts'
import { errors } from '../errors.ts'
import type { DashboardMainMessage, DashboardThreadMessage } from '../messages.ts'
import { guardRoute } from './guard-route.ts'

const tags = ['views']

const content = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 60,
    pattern: describePattern('^\\S(.*\\S)?$', 'a name without spaces around it'),
    description: 'Unique among the views.',
  },
  sort: {
    type: 'string',
    pattern: describePattern('^-?[A-Za-z0-9]{1,20}$', 'an order such as name or -impressions'),
    description: 'As `sort` of `GET /collections` of stats; absent for the default of the page.',
  },
  q: { type: 'string', minLength: 1, maxLength: 200, description: 'Searched text.' },
  tag: { type: 'string', minLength: 1, maxLength: 50 },
  archived: { type: 'boolean', enum: [true], description: 'True for the archive.' },
} as const

const view = {
  type: 'object',
  title: 'View',
  required: ['id', 'name'],
  additionalProperties: false,
  properties: { id: { type: 'string' }, ...content },
} as const

interface ViewRouteOptions {
  readonly auth: Auth
  readonly bus: AppContext<unknown, DashboardMainMessage, DashboardThreadMessage>['bus']
}

/** Registers the routes of saved views: an order and filters of the list of campaigns with a name. */
export function registerViewRoutes(app: App, { auth, bus }: ViewRouteOptions): void {
  app.get(
    '/views',
    {
      ...guardRoute(auth, 'read'),
      schema: {
        tags,
        operationId: 'listViews',
        summary: 'List the saved views in the order of their names',
        response: {
          200: {
            type: 'object',
            required: ['views'],
            additionalProperties: false,
            properties: { views: { type: 'array', items: view } },
          },
          ...buildReadReplies(errors.SIGN_IN_NEEDED),
        },
      },
    },
    async () => ({ views: [...(await bus.call('listViews'))] }),
  )

  app.post(
    '/views',
    {
      ...guardRoute(auth, 'change'),
      schema: {
        tags,
        operationId: 'saveView',
        summary: 'Save a view for all users of the dashboard',
        body: {
          type: 'object',
          required: ['name'],
          additionalProperties: false,
          properties: content,
          examples: [{ name: 'Drinks, fastest first', sort: '-24h', tag: 'drinks' }],
        },
        response: {
          201: view,
          ...buildChangeReplies(
            ...storeErrors,
            errors.SIGN_IN_NEEDED,
            errors.ORIGIN_UNKNOWN,
            errors.VIEW_EXISTS,
            errors.TOO_MANY_VIEWS,
            commonErrors.VALIDATION_FAILED,
          ),
        },
      },
    },
    async ({ body }, reply) => reply.code(201).send(await bus.call('addView', body)),
  )

  app.delete(
    '/views/:id',
    {
      ...guardRoute(auth, 'change'),
      schema: {
        tags,
        operationId: 'removeView',
        summary: 'Remove a saved view',
        params: {
          type: 'object',
          required: ['id'],
          properties: { id: { type: 'string', maxLength: 100, examples: ['4711'] } },
        },
        response: {
          204: { type: 'null', description: 'The view is removed.' },
          ...buildChangeReplies(
            ...storeErrors,
            errors.SIGN_IN_NEEDED,
            errors.ORIGIN_UNKNOWN,
            errors.VIEW_UNKNOWN,
            commonErrors.VALIDATION_FAILED,
          ),
        },
      },
    },
    async ({ params }, reply) => {
      if (!(await bus.call('removeView', params.id))) throw errors.VIEW_UNKNOWN('It may have been removed before.')
      return reply.code(204).send(null)
    },
  )
}

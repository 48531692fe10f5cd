import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { errors } from '../errors.ts'
import type { DataSource } from '../core/system-status.ts'
import type { Auth } from '../auth.ts'

const tags = ['session']
const role = { type: 'string', enum: ['editor', 'reader'] } as const

interface SessionRouteOptions {
  readonly auth: Auth
  readonly services: readonly string[]
  readonly nodes: readonly string[]
  source(): Promise<DataSource | undefined>
}

/** Registers sign-in, sign-out, and the session data that the page reads before it shows a screen. */
export function registerSessionRoutes(app: App, { auth, services, nodes, source }: SessionRouteOptions): void {
  const open = { access: 'host' as const }

  app.get(
    '/session',
    {
      config: open,
      schema: {
        tags,
        operationId: 'getSession',
        summary: 'Read the session and the origin of the numbers',
        response: {
          200: {
            type: 'object',
            required: ['needed', 'services', 'nodes'],
            additionalProperties: false,
            properties: {
              needed: { type: 'boolean', description: 'True if a sign-in is required.' },
              role: { ...role, description: 'Role of the session; absent before the sign-in.' },
              source: {
                type: 'string',
                enum: ['youtube', 'stand-in'],
                description: 'Absent if it is unknown.',
              },
              services: { type: 'array', items: { type: 'string' }, description: 'Configured services.' },
              nodes: {
                type: 'array',
                items: { type: 'string' },
                description: 'Nodes of the services; a standalone node has the name of its service.',
              },
            },
          },
          ...buildReadReplies(),
        },
      },
    },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      return {
        needed: auth.needed,
        role: auth.getRole(request as never),
        source: await source(),
        services: [...services],
        nodes: [...nodes],
      }
    },
  )

  app.post(
    '/session',
    {
      config: open,
      schema: {
        tags,
        operationId: 'signIn',
        summary: 'Sign in with a token of the services',
        body: {
          type: 'object',
          required: ['token'],
          additionalProperties: false,
          properties: { token: { type: 'string', minLength: 1, maxLength: 1_000 } },
          examples: [{ token: 'correct-horse-battery-staple' }],
        },
        response: {
          200: { type: 'object', required: ['role'], additionalProperties: false, properties: { role } },
          ...buildChangeReplies(errors.TOKEN_WRONG, commonErrors.VALIDATION_FAILED),
        },
      },
    },
    async (request, reply) => {
      const { role: given, cookie } = auth.signIn(request as never, request.body.token)
      void reply.headers({ 'set-cookie': cookie, 'cache-control': 'no-store' })
      return { role: given }
    },
  )

  app.delete(
    '/session',
    {
      config: open,
      schema: {
        tags,
        operationId: 'signOut',
        summary: 'Sign out',
        response: { 204: { type: 'null', description: 'Signed out.' }, ...buildChangeReplies() },
      },
    },
    async (_request, reply) => reply.header('set-cookie', auth.signOut()).code(204).send(null),
  )
}

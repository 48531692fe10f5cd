import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { errors } from '../errors.ts'
import type { ServiceMonitor } from '../upstream/service-monitor.ts'
import type { Auth } from '../auth.ts'
import { guardRoute } from './guard-route.ts'

/** Registers `GET /status`, the status of the services. Open pages of the dashboard poll it. */
export function registerStatusRoute(app: App, auth: Auth, monitor: ServiceMonitor): void {
  app.get(
    '/status',
    {
      ...guardRoute(auth, 'read'),
      schema: {
        tags: ['status'],
        operationId: 'getStatus',
        summary: 'Availability of the services and of YouTube',
        response: {
          200: {
            type: 'object',
            title: 'Availability',
            required: ['at', 'services'],
            additionalProperties: false,
            properties: {
              at: { type: 'string', format: 'date-time', description: 'Time of the observation.' },
              services: {
                type: 'array',
                items: {
                  type: 'object',
                  required: ['name', 'state'],
                  additionalProperties: false,
                  properties: {
                    name: { type: 'string' },
                    state: { type: 'string', enum: ['ok', 'not-ready', 'unavailable'] },
                    detail: {
                      type: 'string',
                      description:
                        'Reason why the service is not ready: its phase, such as draining, or an error code.',
                    },
                  },
                },
              },
              source: { type: 'string', enum: ['youtube', 'stand-in'], description: 'Absent if it is unknown.' },
              upstream: {
                type: 'object',
                description: 'Reply of `GET /upstream` of stats; absent if it is unknown.',
                additionalProperties: true,
              },
            },
          },
          ...buildReadReplies(errors.SIGN_IN_NEEDED),
        },
      },
    },
    async (_request, reply) => {
      void reply.header('cache-control', 'no-store')
      return (await monitor.getStatus()) as never
    },
  )
}

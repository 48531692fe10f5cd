import type { FastifyInstance } from 'fastify'
import { Readable } from 'node:stream'
import { commonErrors } from '../../errors/common-errors.ts'
import type { AppHost } from './app-host.ts'
import type { ApiDescription } from './api-description.ts'
import shared from './shared-plugin.ts'
import type { Problem } from '../../errors/problems.ts'
import { buildOpenReplies, buildReadReplies } from '../replies/problem-schemas.ts'
import { VERSION } from '../../version.ts'

const tags = ['system']
const createStringsSchema = (title: string, ...names: string[]) => ({
  title,
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})
const status = createStringsSchema('Status', 'status')

type SystemRouteOptions = AppHost &
  Pick<ApiDescription, 'source'> & { getFault?: (() => Problem | undefined) | undefined }

/** The routes that every service has: health, version, metrics, backup. */
export const systemRoutes = shared(
  async (app: FastifyInstance, { lifecycle, scrape, backup, getFault, source }: SystemRouteOptions) => {
    const open = { access: 'open' as const }

    app.get(
      '/healthz',
      {
        config: open,
        schema: { tags, operationId: 'getHealth', summary: 'Alive', response: { 200: status, ...buildOpenReplies() } },
      },
      async () => ({
        status: 'alive',
      }),
    )

    app.get(
      '/readyz',
      {
        config: open,
        schema: {
          tags,
          operationId: 'getReadiness',
          summary: 'Readiness of the service',
          response: { 200: status, ...buildOpenReplies(commonErrors.NOT_READY) },
        },
      },
      async () => {
        if (lifecycle.phase !== 'ready') throw commonErrors.NOT_READY(lifecycle.phase)
        const problem = getFault?.()
        if (problem) throw commonErrors.NOT_READY(problem.code)
        return { status: 'ready' }
      },
    )

    app.get(
      '/version',
      {
        schema: {
          tags,
          operationId: 'getVersion',
          summary: 'Version of the service and of Node',
          response: {
            200: createStringsSchema('Version', 'name', 'version', 'node', ...(source ? ['source'] : [])),
            ...buildReadReplies(),
          },
        },
      },
      async () => ({ ...VERSION, source: source?.() }),
    )

    app.get(
      '/metrics',
      {
        config: { skipsShedding: true },
        schema: {
          tags,
          operationId: 'getMetrics',
          summary: 'Metrics of all threads, for Prometheus',
          response: { 200: { content: { 'text/plain': { schema: { type: 'string' } } } }, ...buildReadReplies() },
        },
      },
      async (_request, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await scrape()),
    )

    app.get(
      '/backup',
      {
        // A backup contains all data, secrets included.
        config: { access: 'change' as const, cost: 100 },
        exposeHeadRoute: false,
        schema: {
          tags,
          operationId: 'getBackup',
          summary: 'Backup of all data of the service at the start of the reply; see `pnpm backup`',
          response: {
            200: { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } },
            ...buildReadReplies(
              commonErrors.CROSS_SITE,
              commonErrors.NO_DATA,
              commonErrors.BACKUP_NOT_SUPPORTED,
              commonErrors.TOO_MANY_BACKUPS,
            ),
          },
        },
      },
      async (request, reply) => {
        const chunks = await backup()
        request.audit = { change: 'backup', what: 'all' }
        return reply.type('application/octet-stream').send(Readable.from(chunks))
      },
    )
  },
)

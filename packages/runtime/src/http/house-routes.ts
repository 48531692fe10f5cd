import type { FastifyInstance } from 'fastify'
import { Readable } from 'node:stream'
import { errors } from './errors.ts'
import type { AppHost } from '../service.ts'
import type { Described } from './openapi.ts'
import shared from './plugin.ts'
import type { Problem } from './problems.ts'
import { openReplies, readReplies } from './replies.ts'
import { VERSION } from './version.ts'

const tags = ['house']
const strings = (title: string, ...names: string[]) => ({
  title,
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})
const status = strings('Status', 'status')

type HouseOptions = AppHost & Pick<Described, 'source'> & { fault?: (() => Problem | undefined) | undefined }

/** The routes that every service has: health, metrics, version. */
export const houseRoutes = shared(
  async (app: FastifyInstance, { lifecycle, scrape, backup, fault, source }: HouseOptions) => {
    const open = { access: 'open' as const }

    app.get(
      '/healthz',
      {
        config: open,
        schema: { tags, operationId: 'getHealth', summary: 'Alive', response: { 200: status, ...openReplies() } },
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
          summary: 'Ready to serve',
          response: { 200: status, ...openReplies(errors.NOT_READY) },
        },
      },
      async () => {
        if (lifecycle.phase !== 'ready') throw errors.NOT_READY(lifecycle.phase)
        const problem = fault?.()
        if (problem) throw errors.NOT_READY(problem.code)
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
            200: strings('Version', 'name', 'version', 'node', ...(source ? ['source'] : [])),
            ...readReplies(),
          },
        },
      },
      async () => ({ ...VERSION, source: source?.() }),
    )

    app.get(
      '/metrics',
      {
        config: { isTaken: true },
        schema: {
          tags,
          operationId: 'getMetrics',
          summary: 'Figures of all threads, for Prometheus',
          response: { 200: { content: { 'text/plain': { schema: { type: 'string' } } } }, ...readReplies() },
        },
      },
      async (_request, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await scrape()),
    )

    app.get(
      '/backup',
      {
        // Whoever has it has everything.
        config: { access: 'change' as const, cost: 100 },
        exposeHeadRoute: false,
        schema: {
          tags,
          operationId: 'getBackup',
          summary: 'All that the service keeps, as it is when the reply begins; see `pnpm backup`',
          response: {
            200: { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } },
            ...readReplies(errors.CROSS_SITE, errors.NOTHING_KEPT, errors.KEPT_ELSEWHERE, errors.BACKUPS_RUNNING),
          },
        },
      },
      async (request, reply) => {
        const pieces = await backup()
        request.audit = { change: 'backup', what: 'all' }
        return reply.type('application/octet-stream').send(Readable.from(pieces))
      },
    )
  },
)

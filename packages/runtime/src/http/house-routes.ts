import type { FastifyInstance } from 'fastify'
import { errors } from './errors.ts'
import type { AppHost } from '../service.ts'
import shared from './plugin.ts'
import type { Problem } from './problems.ts'
import { openReplies, readReplies } from './replies.ts'
import { VERSION } from './version.ts'

const tags = ['house']
const strings = (...names: string[]) => ({
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})
const status = strings('status')

type HouseOptions = AppHost & { fault?: (() => Problem | undefined) | undefined }

/** The routes that every service has: health, metrics, version. */
export const houseRoutes = shared(async (app: FastifyInstance, { lifecycle, scrape, fault }: HouseOptions) => {
  const open = { access: 'open' as const }

  app.get(
    '/healthz',
    { config: open, schema: { tags, summary: 'Alive', response: { 200: status, ...openReplies() } } },
    async () => ({
      status: 'alive',
    }),
  )

  app.get(
    '/readyz',
    {
      config: open,
      schema: { tags, summary: 'Ready to serve', response: { 200: status, ...openReplies(errors.NOT_READY) } },
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
        summary: 'Version of the service and of Node',
        response: { 200: strings('name', 'version', 'node'), ...readReplies() },
      },
    },
    async () => VERSION,
  )

  app.get(
    '/metrics',
    {
      config: { isTaken: true },
      schema: {
        tags,
        summary: 'Figures of all threads, for Prometheus',
        response: { 200: { content: { 'text/plain': { schema: { type: 'string' } } } }, ...readReplies() },
      },
    },
    async (_request, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await scrape()),
  )
})

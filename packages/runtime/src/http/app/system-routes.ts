import type { FastifyInstance } from 'fastify'
import { Readable } from 'node:stream'
import { commonErrors } from '../../errors/common-errors.ts'
import type { WriteReadiness } from '../write-readiness.ts'
import type { AppHost } from './app-host.ts'
import type { ApiDescription } from './api-description.ts'
import shared from './shared-plugin.ts'
import type { Problem } from '../../errors/problems.ts'
import { buildOpenReplies, buildReadReplies } from '../replies/problem-schemas.ts'
import { VERSION } from '../../version.ts'

const createStringsSchema = (title: string, ...names: string[]) => ({
  title,
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})
const status = createStringsSchema('Status', 'status')
const open = { access: 'open' as const }
const describe = (operationId: string, summary: string, response: object) => ({
  tags: ['system'],
  operationId,
  summary,
  response,
})
const createContent = (type: string, format?: string) => ({
  content: { [type]: { schema: { type: 'string', ...(format && { format }) } } },
})

const writeReadiness = {
  title: 'WriteReadiness',
  description: 'Readiness for writes, on a node of a cluster.',
  type: 'object',
  required: ['ready'],
  properties: {
    ready: { type: 'boolean' },
    code: { type: 'string', description: 'Reason why the service takes no writes.' },
    detail: { type: 'string' },
    since: { type: 'string', format: 'date-time', description: 'Start of the outage.' },
  },
}
const readinessSchema = {
  ...status,
  title: 'Readiness',
  properties: { ...status.properties, writes: writeReadiness },
}

type SystemRouteOptions = AppHost &
  Pick<ApiDescription, 'source'> & {
    getFault?: (() => Problem | undefined) | undefined
    writes?: WriteReadiness | undefined
  }

/** The routes that every service has: health, version, metrics, backup. */
export const systemRoutes = shared(
  async (app: FastifyInstance, { lifecycle, scrape, backup, getFault, writes, source }: SystemRouteOptions) => {
    const health = describe('getHealth', 'Alive', { 200: status, ...buildOpenReplies() })
    app.get('/healthz', { config: open, schema: health }, async () => ({ status: 'alive' }))

    const readinessReplies = { 200: readinessSchema, ...buildOpenReplies(commonErrors.NOT_READY) }
    const readiness = describe('getReadiness', 'Readiness of the service', readinessReplies)
    const description =
      'With `?for=writes`, the service is not ready while it takes no writes. Without it, a node of a cluster is also ready while it only serves reads.'
    app.get('/readyz', { config: open, schema: { ...readiness, description } }, async ({ url }) => {
      const fault = writes?.getWriteFault()
      if (lifecycle.phase === 'empty') throw commonErrors.NOT_READY(fault?.code ?? lifecycle.phase)
      if (lifecycle.phase !== 'ready') throw commonErrors.NOT_READY(lifecycle.phase)
      const problem = getFault?.()
      if (problem) throw commonErrors.NOT_READY(problem.code)
      if (fault && isForWrites(url)) throw commonErrors.NOT_READY(`${fault.code}: ${fault.detail}`)
      return { status: 'ready', ...(writes && { writes: { ready: !fault, ...fault } }) }
    })

    const version = describe('getVersion', 'Version of the service and of Node', {
      200: createStringsSchema('Version', 'name', 'version', 'node', ...(source ? ['source'] : [])),
      ...buildReadReplies(),
    })
    app.get('/version', { config: { describesService: true }, schema: version }, async () => ({
      ...VERSION,
      source: source?.(),
    }))

    const metrics = describe('getMetrics', 'Metrics of all threads, for Prometheus', {
      200: createContent('text/plain'),
      ...buildReadReplies(),
    })
    app.get(
      '/metrics',
      { config: { skipsShedding: true, describesService: true }, schema: metrics },
      async (_request, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await scrape()),
    )

    const { CROSS_SITE, NO_DATA, TOO_MANY_BACKUPS } = commonErrors
    const backupDescription = describe(
      'getBackup',
      'Backup of all data of the service at the start of the reply; see `pnpm backup`',
      {
        200: createContent('application/octet-stream', 'binary'),
        ...buildReadReplies(CROSS_SITE, NO_DATA, TOO_MANY_BACKUPS),
      },
    )
    // A backup contains all data, secrets included.
    const config = { access: 'change' as const, cost: 100 }
    app.get('/backup', { config, exposeHeadRoute: false, schema: backupDescription }, async (request, reply) => {
      const chunks = await backup()
      request.audit = { change: 'backup', what: 'all' }
      return reply.type('application/octet-stream').send(Readable.from(chunks))
    })
  },
)

/** Parses the target itself, because services have parsers of query strings with other results. */
const isForWrites = (url: string): boolean => new URLSearchParams(url.split('?', 2)[1]).get('for') === 'writes'

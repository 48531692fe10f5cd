import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildOpenReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { gunzipSync } from 'node:zlib'
import { REPORT_HEADERS, type Reports } from '../reports.ts'
import { selectCoding } from './page-routes.ts'

/** Registers the benchmark report and the flame graphs, if their files exist. */
export function registerReportRoutes(app: App, { paths, read }: Reports): void {
  const config = { access: 'host' as const }

  app.get(
    '/reports',
    {
      config,
      schema: {
        tags: ['reports'],
        operationId: 'listReports',
        summary: 'Available benchmark reports and flame graphs',
        response: {
          200: {
            type: 'object',
            required: ['paths'],
            additionalProperties: false,
            properties: { paths: { type: 'array', items: { type: 'string' }, description: 'Under `/reports/`.' } },
          },
          ...buildReadReplies(),
        },
      },
    },
    async () => ({ paths: [...paths] }),
  )

  app.get(
    '/reports/*',
    { config, schema: { hide: true, response: buildOpenReplies(commonErrors.NOT_FOUND) } },
    async (request, reply) => {
      const report = await read((request.params as { '*': string })['*'])
      if (!report) throw commonErrors.NOT_FOUND()
      void reply.headers(REPORT_HEADERS).type('text/html; charset=utf-8')
      const { body, coding } = report
      if (!coding) return reply.send(body as never) as never
      void reply.header('vary', 'accept-encoding')
      // Every browser accepts gzip; curl does only with --compressed.
      if (selectCoding(request.headers['accept-encoding']) === 'identity')
        return reply.send(gunzipSync(body) as never) as never
      return reply.header('content-encoding', coding).send(body as never) as never
    },
  )
}

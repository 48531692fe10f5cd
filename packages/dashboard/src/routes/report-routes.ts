import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildOpenReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { Reports } from '../reports.ts'

/** Reports are pages with inline scripts. These headers isolate them from this origin, its cookies and its page. */
const REPORT_HEADERS = {
  'content-security-policy':
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'none'",
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
}

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
      const page = read((request.params as { '*': string })['*'])
      if (!page) throw commonErrors.NOT_FOUND()
      return reply
        .headers(REPORT_HEADERS)
        .type('text/html; charset=utf-8')
        .send((await page) as never) as never
    },
  )
}

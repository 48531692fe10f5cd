import type { FastifyInstance } from 'fastify'
import type { ApiDescription } from './api-description.ts'
import shared from './shared-plugin.ts'
import { buildReadReplies } from '../replies/problem-schemas.ts'
import { VERSION } from '../../version.ts'

const LINKS = [
  ['docs', 'API reference: all requests and replies'],
  ['version', 'Version of the service and of Node'],
  ['readyz', 'Readiness of the service'],
  ['metrics', 'Metrics for Prometheus'],
] as const

const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (one) => ENTITIES[one]!)

const renderPage = ({ title, description }: ApiDescription, source: string | undefined) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 42rem; margin: 10vh auto; padding: 0 1.5rem }
dt { font-weight: 600 }
dd { margin: 0 0 .75rem }
</style>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(description)}</p>
${source ? `<p>Source: ${escapeHtml(source)}${source === 'stand-in' ? ' (invented numbers)' : ''}</p>\n` : ''}<dl>
${LINKS.map(([path, meaning]) => `<dt><a href="${path}">/${path}</a></dt><dd>${meaning}</dd>`).join('\n')}
</dl>
<p><small>${escapeHtml(VERSION.name)} ${escapeHtml(VERSION.version)}</small></p>
</html>
`

/** The page at `/`: the description of the service for browsers, with links. */
export const indexPage = shared(async (app: FastifyInstance, apiDescription: ApiDescription) => {
  const text = { schema: { type: 'string' } }
  app.get(
    '/',
    {
      config: { describesService: true },
      schema: {
        tags: ['system'],
        operationId: 'getPage',
        summary: 'Start page of the service',
        response: { 200: { description: 'A page.', content: { 'text/html': text } }, ...buildReadReplies() },
      },
    },
    async (_request, reply) =>
      reply
        .headers(HEADERS)
        .type('text/html; charset=utf-8')
        .send(renderPage(apiDescription, apiDescription.source?.())),
  )
})

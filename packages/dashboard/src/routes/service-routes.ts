import type { Budget } from '@influencer-stats/runtime/budget'
import { createBytesParser } from '@influencer-stats/runtime/bytes-parser'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { MAX_CAMPAIGN_FILE_BYTES, XLSX_MEDIA_TYPE } from '@influencer-stats/stats/client'
import { findAccess } from '../core/route-allowlist.ts'
import { errors } from '../errors.ts'
import type { ServiceProxy } from '../upstream/service-proxy.ts'
import type { Auth } from '../auth.ts'

interface ServiceRouteOptions {
  readonly auth: Auth
  readonly proxy: ServiceProxy
  readonly budget: Budget
  /** Maximum size of a request body that is no file (bytes). */
  readonly limit: number
}

/** Media types of files: CSV, and XLSX. */
const FILE_TYPES = ['text/csv', XLSX_MEDIA_TYPE]

// A service, or one of its nodes: `stats.2`.
const SERVICE_URL = /^\/api\/(([a-z]+)(?:\.\d{1,4})?)(\/[^?#]*)(\?[^#]*)?$/

/** Registers `/api/*`, which forwards to the services only the requests that a page may send. */
export function registerServiceRoutes(app: App, { auth, proxy, budget, limit }: ServiceRouteOptions): void {
  app.removeAllContentTypeParsers()
  const tooLarge = commonErrors.BODY_TOO_LARGE
  app.addContentTypeParser('*', createBytesParser({ limit, tooLarge }, budget))
  app.addContentTypeParser(
    FILE_TYPES,
    createBytesParser({ limit: Math.max(limit, MAX_CAMPAIGN_FILE_BYTES), tooLarge }, budget),
  )

  function parseRequest({ method, url }: { method: string; url: string }) {
    const [, name = '', service = '', path = '', query = ''] = SERVICE_URL.exec(url) ?? []
    if (!proxy.services.includes(service))
      throw errors.SERVICE_UNKNOWN(`The dashboard knows these services: ${proxy.services.join(', ')}.`)
    const access = findAccess(service, method, path)
    if (!access) throw errors.ROUTE_REFUSED('Send this request to the service itself.')
    return { name, access, target: path + query }
  }

  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/api/*',
    exposeHeadRoute: false,
    config: { access: 'host', isConditional: true },
    // The services document these replies.
    schema: { hide: true },
    async onRequest(request) {
      const fault = auth.check(request as never, parseRequest(request as never).access)
      if (fault) throw fault
    },
    async handler(request, reply) {
      const { name, target } = parseRequest(request as never)
      const role = auth.getRole(request as never) ?? 'reader'
      const { method, headers, body } = request as { method: string; headers: Record<string, string>; body?: unknown }
      const upstreamRequest = {
        method,
        path: target,
        headers,
        token: auth.getToken(role),
        body: body as Buffer | undefined,
      }
      return proxy.forward(reply as never, name, upstreamRequest) as never
    },
  })
}

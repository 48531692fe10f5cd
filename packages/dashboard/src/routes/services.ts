import type { Budget } from '@influencer-stats/runtime/budget'
import { createBytesParser } from '@influencer-stats/runtime/bytes-parser'
import { commonErrors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { accessOf } from '../core/allowed.ts'
import { errors } from '../errors.ts'
import type { Proxy } from '../proxy.ts'
import type { Visitors } from '../visitors.ts'

interface ServiceOptions {
  readonly visitors: Visitors
  readonly proxy: Proxy
  readonly budget: Budget
  /** Of a body (bytes). */
  readonly limit: number
}

// A service, or one of its nodes: `stats.2`.
const SERVICE = /^\/api\/(([a-z]+)(?:\.\d{1,4})?)(\/[^?#]*)(\?[^#]*)?$/

/** The services, on the page's own origin: what a page may ask of them, and nothing else. */
export function serviceRoutes(app: App, { visitors, proxy, budget, limit }: ServiceOptions): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', createBytesParser({ limit, tooLarge: house.BODY_TOO_LARGE }, budget))

  function partsOf({ method, url }: { method: string; url: string }) {
    const [, name = '', service = '', path = '', query = ''] = SERVICE.exec(url) ?? []
    if (!proxy.services.includes(service))
      throw errors.SERVICE_UNKNOWN(`The dashboard knows these services: ${proxy.services.join(', ')}.`)
    const access = accessOf(service, method, path)
    if (!access) throw errors.ROUTE_REFUSED('Send this request to the service itself.')
    return { name, access, target: path + query }
  }

  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/api/*',
    exposeHeadRoute: false,
    config: { access: 'host', isConditional: true },
    // What is answered is documented where it is answered from.
    schema: { hide: true },
    async onRequest(request) {
      const fault = visitors.check(request as never, partsOf(request as never).access)
      if (fault) throw fault
    },
    async handler(request, reply) {
      const { name, target } = partsOf(request as never)
      const role = visitors.roleOf(request as never) ?? 'reader'
      const { method, headers, body } = request as { method: string; headers: Record<string, string>; body?: unknown }
      const asked = { method, path: target, headers, token: visitors.tokenFor(role), body: body as Buffer | undefined }
      return proxy.forward(reply as never, name, asked) as never
    },
  })
}

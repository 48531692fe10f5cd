import type { FastifyInstance } from 'fastify'

/** A route as it was registered. */
export interface RegisteredRoute {
  readonly method: string
  readonly url: string
  /** True if the route only refuses its method with a 405. */
  readonly isForbidden?: boolean
}

const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const

/**
 * Refuses all other methods of a fixed path with a 405. Without these routes a path with a parameter, such as
 * `/prices/:id`, would accept them.
 */
export function allowOnly(app: Pick<FastifyInstance, 'route'>, url: string, allowed: readonly string[]): void {
  for (const method of METHODS.filter((one) => !allowed.includes(one)))
    app.route({
      method,
      url,
      config: { isForbidden: true },
      schema: { hide: true } as object,
      // Ahead of the parsers, which refuse a missing body.
      onRequest: async (_request, reply) => reply.callNotFound(),
      handler: async () => {},
    })
}

const patterns = new Map<string, RegExp>()

function getPattern(url: string): RegExp {
  let pattern = patterns.get(url)
  if (!pattern) {
    const source = url
      .split(/(:\w+|\*)/)
      .map((part) => (part === '*' ? '.*' : part.startsWith(':') ? '[^/]+' : RegExp.escape(part)))
      .join('')
    patterns.set(url, (pattern = new RegExp(`^${source}$`)))
  }
  return pattern
}

/** Lists the methods of the routes at this path, for the `Allow` field of a 405. Called only if no route matched. */
export function listAllowedMethods(routes: readonly RegisteredRoute[], url: string): string[] {
  const path = url.split('?', 1)[0]!
  const matching = routes.filter((route) => getPattern(route.url).test(path))
  const list = (isForbidden: boolean) =>
    new Set(
      matching.filter((one) => (one.isForbidden ?? false) === isForbidden).flatMap(({ method }) => method.split(',')),
    )
  return [...list(false).difference(list(true))].sort()
}

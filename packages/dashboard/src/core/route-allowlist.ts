/** A request that a page may send to a service, and whether it changes data of the service. */
interface AllowedRoute {
  readonly methods: RegExp
  readonly path: RegExp
  readonly access: 'read' | 'change'
}

const READ_METHODS = /^(GET|HEAD)$/
const allowReads = (path: RegExp): AllowedRoute => ({ methods: READ_METHODS, path, access: 'read' })

const systemRoutes = allowReads(/^\/(readyz|metrics|version|node)$/)

const ROUTES = new Map<string, readonly AllowedRoute[]>(
  Object.entries({
    stats: [
      systemRoutes,
      allowReads(/^\/(upstream|trash|campaigns\/export|(collections|creators)(\/.+)?)$/),
      { methods: /^(PUT|PATCH|DELETE)$/, path: /^\/collections\/.+$/, access: 'change' },
      {
        methods: /^POST$/,
        path: /^\/collections\/[^/]+\/(posts(\/[^/]+\/numbers)?|reported\/numbers)$/,
        access: 'change',
      },
      { methods: /^POST$/, path: /^\/trash\/[^/]+\/restore$/, access: 'change' },
      {
        methods: /^POST$/,
        path: /^\/(preview|campaigns\/(bulk|import)|collections\/[^/]+\/(preview|duplicate))$/,
        access: 'change',
      },
      { methods: /^DELETE$/, path: /^\/trash\/[^/]+$/, access: 'change' },
    ],
    sse: [systemRoutes, allowReads(/^\/(wait|connections)$/)],
    prices: [
      systemRoutes,
      allowReads(/^\/(facets|prices\/[^/]+)$/),
      // A search whose conditions are in its body.
      { methods: /^POST$/, path: /^\/v1\/search\/[^/]+\/prices$/, access: 'read' },
    ],
    kv: [systemRoutes],
  }),
)

/** The services that a page may use. */
export const SERVICES: readonly string[] = [...ROUTES.keys()]

const DOT_SEGMENT = /\/(\.|%2e){1,2}(\/|$)/i

/** The access that a request to a service needs. Undefined if pages may not send it. @param path without the query */
export function findAccess(service: string, method: string, path: string): 'read' | 'change' | undefined {
  // A proxy in between may resolve dot segments and thereby reach another path.
  if (DOT_SEGMENT.test(path)) return undefined
  return ROUTES.get(service)?.find((route) => route.methods.test(method) && route.path.test(path))?.access
}

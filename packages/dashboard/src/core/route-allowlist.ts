/** What a page may ask a service for, and whether that changes something there. */
interface AllowedRoute {
  readonly methods: RegExp
  readonly path: RegExp
  readonly access: 'read' | 'change'
}

const READ_METHODS = /^(GET|HEAD)$/
const allowReads = (path: RegExp): AllowedRoute => ({ methods: READ_METHODS, path, access: 'read' })

const systemRoutes = allowReads(/^\/(readyz|metrics|version)$/)

const ROUTES = new Map<string, readonly AllowedRoute[]>(
  Object.entries({
    stats: [
      systemRoutes,
      allowReads(/^\/(upstream|collections(\/.+)?)$/),
      { methods: /^(PUT|PATCH|DELETE)$/, path: /^\/collections\/.+$/, access: 'change' },
    ],
    sse: [systemRoutes, allowReads(/^\/(wait|connections)$/)],
    prices: [
      systemRoutes,
      allowReads(/^\/(facets|prices\/[^/]+)$/),
      // A search that says in its body what it looks for.
      { methods: /^POST$/, path: /^\/v1\/search\/[^/]+\/prices$/, access: 'read' },
    ],
    kv: [systemRoutes],
  }),
)

/** The services that a page may ask. */
export const SERVICES: readonly string[] = [...ROUTES.keys()]

const DOT_SEGMENT = /\/(\.|%2e){1,2}(\/|$)/i

/** What asking a service so does there; nothing where pages may not. @param path without the query */
export function findAccess(service: string, method: string, path: string): 'read' | 'change' | undefined {
  // Whatever stands between might take them for steps.
  if (DOT_SEGMENT.test(path)) return undefined
  return ROUTES.get(service)?.find((route) => route.methods.test(method) && route.path.test(path))?.access
}

/** What a page may ask a service for, and whether that changes something there. */
interface Route {
  readonly methods: RegExp
  readonly path: RegExp
  readonly access: 'read' | 'change'
}

const READS = /^(GET|HEAD)$/
const reads = (path: RegExp): Route => ({ methods: READS, path, access: 'read' })

const house = reads(/^\/(readyz|metrics|version)$/)

const ROUTES = new Map<string, readonly Route[]>(
  Object.entries({
    stats: [
      house,
      reads(/^\/(upstream|collections(\/.+)?)$/),
      { methods: /^(PUT|PATCH|DELETE)$/, path: /^\/collections\/.+$/, access: 'change' },
    ],
    sse: [house, reads(/^\/(wait|connections)$/)],
    prices: [
      house,
      reads(/^\/(facets|prices\/[^/]+)$/),
      // A search that says in its body what it looks for.
      { methods: /^POST$/, path: /^\/v1\/search\/[^/]+\/prices$/, access: 'read' },
    ],
    kv: [house],
  }),
)

/** The services that a page may ask. */
export const SERVICES: readonly string[] = [...ROUTES.keys()]

const DOTS = /\/(\.|%2e){1,2}(\/|$)/i

/** What asking a service so does there; nothing where pages may not. @param path without the query */
export function accessOf(service: string, method: string, path: string): 'read' | 'change' | undefined {
  // Whatever stands between might take them for steps.
  if (DOTS.test(path)) return undefined
  return ROUTES.get(service)?.find((route) => route.methods.test(method) && route.path.test(path))?.access
}

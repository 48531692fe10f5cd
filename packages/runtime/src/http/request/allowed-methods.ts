/** A route as it was registered. */
export interface RegisteredRoute {
  readonly method: string
  readonly url: string
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
  const methods = routes.filter((route) => getPattern(route.url).test(path)).map((route) => route.method)
  return [...new Set(methods.flatMap((method) => method.split(',')))].sort()
}

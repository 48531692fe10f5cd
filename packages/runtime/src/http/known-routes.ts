/** A route as it was registered. */
export interface KnownRoute {
  readonly method: string
  readonly url: string
}

const patterns = new Map<string, RegExp>()

function patternOf(url: string): RegExp {
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

/** The methods that some route takes at this path: what a 405 lists. Only asked when no route matched. */
export function allowedMethods(routes: readonly KnownRoute[], url: string): string[] {
  const path = url.split('?', 1)[0]!
  const methods = routes.filter((route) => patternOf(route.url).test(path)).map((route) => route.method)
  return [...new Set(methods.flatMap((method) => method.split(',')))].sort()
}

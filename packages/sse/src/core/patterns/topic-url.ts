/** A topic that is a URL, split into the components that patterns have. */
export interface TopicUrl {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
  readonly pathname: string
  readonly username: string
  readonly password: string
  readonly search: string
  readonly hash: string
}

/** Names of the components, in the order of `TopicPattern.source`. */
export const URL_COMPONENTS = [
  'protocol',
  'hostname',
  'port',
  'pathname',
  'username',
  'password',
  'search',
  'hash',
] as const

/** Returns undefined if the topic is not a URL. @param base base URL of relative topics */
export function parseTopicUrl(topic: string, base?: string): TopicUrl | undefined {
  const url = URL.parse(topic, base)
  if (!url) return undefined
  const { hostname, port, pathname, username, password } = url
  return {
    protocol: url.protocol.slice(0, -1),
    hostname,
    port,
    pathname,
    username,
    password,
    search: url.search.slice(1),
    hash: url.hash.slice(1),
  }
}

/**
 * Formats a topic for the lookup of patterns. The text begins with the literal start of every pattern that matches the
 * topic.
 */
export const formatTopicUrl = ({ protocol, hostname, port, pathname }: TopicUrl): string =>
  `${protocol}://${hostname}:${port}${pathname}`

/** Path of the hub. */
export const HUB_PATH = '/.well-known/mercure'

// A topic without a match cannot resolve to the hub's path or a path below it. The expression includes tabs and line ends
// because the URL parser drops them.
const HUB_TOPIC_HINT = /mercure|[%\t\n\r]|^[\0- ]*(?:[?#]|$)/

/**
 * True if a topic is reserved for the hub, so that clients cannot publish to it.
 * @param base the hub's URL, against which relative topics are resolved
 */
export function isHubTopic(topic: string, base: string): boolean {
  if (!HUB_TOPIC_HINT.test(topic)) return false
  const url = URL.parse(topic, base)
  if (!url) return false
  const path = decodePath(url.pathname)
  return path === HUB_PATH || path.startsWith(`${HUB_PATH}/`)
}

/** Decodes the escapes of a path, then resolves its dot segments and repeated slashes. */
function decodePath(pathname: string): string {
  let path = pathname
  try {
    path = decodeURIComponent(pathname)
  } catch {
    return pathname
  }
  const segments: string[] = []
  for (const segment of path.split(/[/\\]+/)) {
    if (segment === '..') segments.pop()
    else if (segment !== '.' && segment !== '') segments.push(segment)
  }
  return `/${segments.join('/')}`
}

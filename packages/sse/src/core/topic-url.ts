/** A topic that is a URL, in the parts that patterns look at. */
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

/** Nothing where a topic is no URL. */
export function parseTopicUrl(topic: string): TopicUrl | undefined {
  const url = URL.parse(topic)
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

/** What patterns are found by: a text that begins as that of every pattern that matches the topic. */
export const formatTopicUrl = ({ protocol, hostname, port, pathname }: TopicUrl): string =>
  `${protocol}://${hostname}:${port}${pathname}`

/** Where the hub is. */
export const HUB_PATH = '/.well-known/mercure'

// Whatever else a topic says, it cannot lead below the hub's path. Tabs and line ends are none of a URL's.
const HUB_TOPIC_HINT = /mercure|[%\t\n\r]|^[\0- ]*(?:[?#]|$)/

/** Whether a topic is the hub's own: those nobody may put to. @param base the hub's URL */
export function isHubTopic(topic: string, base: string): boolean {
  if (!HUB_TOPIC_HINT.test(topic)) return false
  const url = URL.parse(topic, base)
  if (!url) return false
  const path = decodePath(url.pathname)
  return path === HUB_PATH || path.startsWith(`${HUB_PATH}/`)
}

/** A path with its escapes resolved, and then its dots and doubled slashes. */
function decodePath(pathname: string): string {
  let path = pathname
  try {
    path = decodeURIComponent(pathname)
  } catch {
    return pathname
  }
  const steps: string[] = []
  for (const step of path.split(/[/\\]+/)) {
    if (step === '..') steps.pop()
    else if (step !== '.' && step !== '') steps.push(step)
  }
  return `/${steps.join('/')}`
}

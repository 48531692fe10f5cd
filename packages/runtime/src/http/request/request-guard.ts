import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { CommonSettings } from '../../settings/settings.ts'
import { formatReceived } from '../../received-value.ts'
import { commonErrors } from '../../errors/common-errors.ts'
import { createHostMatcher } from '../../net/served-hosts.ts'
import { parseBearer, type Access, type BearerHeaders } from '../../net/request.ts'
import type { Problem } from '../../errors/problems.ts'

/** The part of a request that is checked: Node's parsed head, or only the headers if the rest needs no check. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders
  readonly url?: string | undefined
  readonly rawHeaders?: readonly string[]
}

/** Authorizes requests by their head alone. */
export interface RequestGuard {
  /**
   * Returns the reason for a refusal, or `undefined`.
   * @param token token that was sent outside the `Authorization` header, for example in the URL; only the read token is
   * accepted there
   * @param acceptsConnector true if a connector may make this change
   */
  check(head: RequestHead, access: Access, token?: string, acceptsConnector?: boolean): Problem | undefined
  /** Describes the client for a log: the name of the token and the beginning of its hash, never the token. */
  describeBearer(headers: BearerHeaders): string
  /** Returns the CORS headers for a page of this origin, as a flat list. */
  getCorsHeaders(origin: string | undefined): readonly string[]
}

interface GuardSettings extends Pick<
  CommonSettings,
  'host' | 'apiToken' | 'readToken' | 'allowedHosts' | 'corsOrigins'
> {
  /** Token for a few changes only. Of services that have such changes. */
  readonly connectorToken?: string
}

/** Compares in constant time, for any lengths. */
function isSameSecret(given: string, digest: Buffer): boolean {
  return timingSafeEqual(createHash('sha256').update(given).digest(), digest)
}

const hashSecret = (secret: string) => createHash('sha256').update(secret).digest()

function isTokenValid(headers: IncomingHttpHeaders, digests: Buffer[]): boolean {
  const given = parseBearer(headers)
  return given !== undefined && digests.some((digest) => isSameSecret(given, digest))
}

/** True if a request has several `Host` headers; Node exposes only the first. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

/** Reply headers that a page of another origin may read, in addition to the CORS-safelisted ones. */
export const CORS_EXPOSED_FIELDS = [
  'ETag',
  'Retry-After',
  'Age',
  'x-request-id',
  // sse
  'event-id',
  // kv
  'expires-at',
  'next',
  // nodes of a cluster
  'sequence',
]
const EXPOSE_HEADER = ['access-control-expose-headers', CORS_EXPOSED_FIELDS.join(', ')]

/** Length of a token's hash in a log (bytes). */
const LOGGED_HASH_BYTES = 4

const NO_CORS: readonly string[] = []

export function createRequestGuard(settings: GuardSettings): RequestGuard {
  const isServedHost = createHostMatcher(settings.host, settings.allowedHosts)
  const corsOrigins = new Set(settings.corsOrigins)
  const changeDigests = settings.apiToken ? [hashSecret(settings.apiToken)] : []
  const readDigests = settings.readToken ? [hashSecret(settings.readToken), ...changeDigests] : []
  const connectorDigests = settings.connectorToken
    ? [...changeDigests, hashSecret(settings.connectorToken)]
    : changeDigests
  const namedTokens = [
    [hashSecret(settings.apiToken), 'apiToken'],
    [hashSecret(settings.readToken), 'readToken'],
    [hashSecret(settings.connectorToken ?? ''), 'connectorToken'],
  ] as const
  const misdirected = (host: string) =>
    commonErrors.MISDIRECTED_HOST(
      `Host must be a loopback address, the listen address or in ALLOWED_HOSTS; received ${formatReceived(host)}`,
    )

  /** Checks that a request has exactly one `Host`. */
  function checkHostCount({ headers, rawHeaders }: RequestHead): Problem | undefined {
    if (!headers.host) return commonErrors.HOST_MISSING()
    return rawHeaders && hasSeveralHosts(rawHeaders) ? commonErrors.HOST_AMBIGUOUS() : undefined
  }

  /** Returns a problem unless this service serves the host in the request's head or target. */
  function checkHost(head: RequestHead): Problem | undefined {
    const fault = checkHostCount(head)
    if (fault) return fault
    if (!isServedHost(head.headers.host!)) return misdirected(head.headers.host!)
    const { url = '/' } = head
    if (url.startsWith('/') || url === '*') return undefined
    // The host of a target in absolute form (`http://host/path`) has precedence over the header.
    return URL.canParse(url) && isServedHost(new URL(url).host) ? undefined : misdirected(URL.parse(url)?.host ?? url)
  }

  function isCrossSite(headers: IncomingHttpHeaders): boolean {
    const { origin } = headers
    if (origin !== undefined) {
      if (corsOrigins.has(origin)) return false
      return !URL.canParse(origin) || new URL(origin).host !== headers.host?.toLowerCase()
    }
    const site = headers['sec-fetch-site']
    return site === 'cross-site' || site === 'same-site'
  }

  return {
    check(head, access, token, acceptsConnector = false) {
      if (access === 'open') return checkHostCount(head)
      const fault = checkHost(head)
      if (fault || access === 'host') return fault
      const { headers } = head
      if (access === 'change' && isCrossSite(headers)) return commonErrors.CROSS_SITE()
      const digests = access === 'read' ? readDigests : acceptsConnector ? connectorDigests : changeDigests
      const isReadToken = (given: string) => access === 'read' && isSameSecret(given, digests[0]!)
      // Without an API token every client may make changes.
      const isOpen = access === 'change' ? changeDigests.length === 0 : readDigests.length === 0
      if (!isOpen && !(token === undefined ? isTokenValid(headers, digests) : isReadToken(token))) {
        return commonErrors.UNAUTHORIZED(undefined, { headers: { 'www-authenticate': 'Bearer' } })
      }
      return undefined
    },
    describeBearer(headers) {
      const token = parseBearer(headers)
      if (token === undefined) return 'anyone'
      const digest = hashSecret(token)
      const known = namedTokens.find(([hash]) => hash.equals(digest))
      return `${known?.[1] ?? 'token'} ${digest.toString('hex', 0, LOGGED_HASH_BYTES)}`
    },
    getCorsHeaders(origin) {
      if (corsOrigins.size === 0) return NO_CORS
      const allowed = origin !== undefined && corsOrigins.has(origin) ? ['access-control-allow-origin', origin] : []
      return ['vary', 'Origin', ...allowed, 'access-control-allow-credentials', 'true', ...EXPOSE_HEADER]
    },
  }
}

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { CommonSettings } from '../settings/settings.ts'
import { errors } from './errors.ts'
import { createHosts } from './hosts.ts'
import type { Problem } from './problems.ts'

/**
 * What a route does to the service's state: that decides who may ask. `open` is for probes, which ask by address; of
 * `host` no more is asked than that it names a host that is served.
 */
export type Access = 'open' | 'host' | 'read' | 'change'

/** What is looked at of a request: what Node parsed, or no more than its headers where the rest is known to be plain. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders
  readonly url?: string | undefined
  readonly rawHeaders?: readonly string[]
}

/** Headers among which there may be a token. */
interface MayBear {
  readonly authorization?: string | string[] | undefined
}

/** Decides who may ask, from a request's head alone. */
export interface Guard {
  /**
   * `token` is one that came another way than in the `Authorization` header, in the address say: that for reads alone is
   * taken there. Returns why not, or nothing.
   */
  check(head: RequestHead, access: Access, token?: string): Problem | undefined
  /** Who asks, for a log: the name of the token and the beginning of its hash, never the token. */
  bearer(headers: MayBear): string
  /** What a page of this origin has to be told, as a flat list of headers. */
  corsHeaders(origin: string | undefined): readonly string[]
}

type GuardSettings = Pick<CommonSettings, 'host' | 'apiToken' | 'readToken' | 'allowedHosts' | 'corsOrigins'>

/** Compares in constant time, whatever the lengths. */
function sameSecret(given: string, digest: Buffer): boolean {
  return timingSafeEqual(createHash('sha256').update(given).digest(), digest)
}

const digestOf = (secret: string) => createHash('sha256').update(secret).digest()

/** The token of a request, whether it is right or not. */
export function bearerOf({ authorization }: MayBear): string | undefined {
  return /^Bearer +(\S+)$/i.exec(String(authorization ?? ''))?.[1]
}

function tokenFits(headers: IncomingHttpHeaders, digests: Buffer[]): boolean {
  const given = bearerOf(headers)
  return given !== undefined && digests.some((digest) => sameSecret(given, digest))
}

/** Node keeps the first of several. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

/** What a page of another origin may read of a reply's head, besides what all may. */
export const CORS_EXPOSED = ['ETag', 'Retry-After', 'Age', 'x-request-id']
const EXPOSED = ['access-control-expose-headers', CORS_EXPOSED.join(', ')]

/** Of a token's hash, in a log (bytes). */
const HASH_SHOWN = 4

const NO_CORS: readonly string[] = []

export function createGuard(settings: GuardSettings): Guard {
  const hosts = createHosts(settings.host, settings.allowedHosts)
  const corsOrigins = new Set(settings.corsOrigins)
  const changeDigests = settings.apiToken ? [digestOf(settings.apiToken)] : []
  const readDigests = settings.readToken ? [digestOf(settings.readToken), ...changeDigests] : []
  const named = [
    [digestOf(settings.apiToken), 'apiToken'],
    [digestOf(settings.readToken), 'readToken'],
  ] as const
  const misdirected = () => errors.MISDIRECTED_HOST('add it to ALLOWED_HOSTS to serve it')

  function checkNames({ headers, rawHeaders }: RequestHead): Problem | undefined {
    if (!headers.host) return errors.HOST_MISSING()
    return rawHeaders && hasSeveralHosts(rawHeaders) ? errors.HOST_AMBIGUOUS() : undefined
  }

  /** Whether the host that a request names, in its head or its target, is served here. */
  function checkHost(head: RequestHead): Problem | undefined {
    const fault = checkNames(head)
    if (fault) return fault
    if (!hosts.serves(head.headers.host!)) return misdirected()
    const { url = '/' } = head
    if (url.startsWith('/') || url === '*') return undefined
    // The authority of a target in absolute form goes before the header.
    return URL.canParse(url) && hosts.serves(new URL(url).host) ? undefined : misdirected()
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
    check(head, access, token) {
      if (access === 'open') return checkNames(head)
      const fault = checkHost(head)
      if (fault || access === 'host') return fault
      const { headers } = head
      if (access === 'change' && isCrossSite(headers)) return errors.CROSS_SITE()
      const digests = access === 'change' ? changeDigests : readDigests
      const fits = (given: string) => access === 'read' && sameSecret(given, digests[0]!)
      if (digests.length > 0 && !(token === undefined ? tokenFits(headers, digests) : fits(token))) {
        return errors.UNAUTHORIZED(undefined, { headers: { 'www-authenticate': 'Bearer' } })
      }
      return undefined
    },
    bearer(headers) {
      const token = bearerOf(headers)
      if (token === undefined) return 'anyone'
      const digest = digestOf(token)
      const own = named.find(([known]) => known.equals(digest))
      return `${own?.[1] ?? 'token'} ${digest.toString('hex', 0, HASH_SHOWN)}`
    },
    corsHeaders(origin) {
      if (corsOrigins.size === 0) return NO_CORS
      const allowed = origin !== undefined && corsOrigins.has(origin) ? ['access-control-allow-origin', origin] : []
      return ['vary', 'Origin', ...allowed, 'access-control-allow-credentials', 'true', ...EXPOSED]
    },
  }
}

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import { errors } from './errors.ts'
import type { Problem } from './problems.ts'
import type { CommonSettings } from '../settings/settings.ts'

/** What a route does to the service's state: that decides who may ask. */
export type Access = 'open' | 'read' | 'change'

/** Decides who may ask, from a request's headers alone. */
export interface Guard {
  /** `token` is one that came another way than in the `Authorization` header. Returns why not, or nothing. */
  check(headers: IncomingHttpHeaders, access: Access, token?: string): Problem | undefined
}

type GuardSettings = Pick<CommonSettings, 'host' | 'apiToken' | 'readToken' | 'allowedHosts' | 'corsOrigins'>

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const KNOWN_HOSTS_LIMIT = 1_000

export const isLoopback = (host: string) =>
  LOOPBACK.has(host) || host === '::1' || (isIPv4(host) && host.startsWith('127.'))

/** Compares in constant time, whatever the lengths. */
function sameSecret(given: string, digest: Buffer): boolean {
  return timingSafeEqual(createHash('sha256').update(given).digest(), digest)
}

const digestOf = (secret: string) => createHash('sha256').update(secret).digest()

function tokenFits(headers: IncomingHttpHeaders, token: string | undefined, digests: Buffer[]): boolean {
  const given = token ?? /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  return given !== undefined && digests.some((digest) => sameSecret(given, digest))
}

/** Host names as they appear in a `Host` header, without the port. */
const nameOf = (host: string) => host.replace(/:\d*$/, '').toLowerCase()

export function createGuard(settings: GuardSettings): Guard {
  // The address it listens on is named by whoever asks there; no page of another site can take it as its own name.
  const own = isIPv6(settings.host) ? `[${settings.host}]` : settings.host
  const allowedHosts = new Set([own, ...settings.allowedHosts].map((host) => host.toLowerCase()))
  const corsOrigins = new Set(settings.corsOrigins)
  const changeDigests = settings.apiToken ? [digestOf(settings.apiToken)] : []
  const readDigests = settings.readToken ? [digestOf(settings.readToken), ...changeDigests] : []
  // Few clients, few spellings: a look-up in a bounded Set instead of a regular expression a request.
  const knownHosts = new Set<string>()

  function hostIsServed(host: string): boolean {
    if (knownHosts.has(host)) return true
    const name = nameOf(host)
    if (!LOOPBACK.has(name) && !allowedHosts.has(name) && !allowedHosts.has(host.toLowerCase())) return false
    if (knownHosts.size < KNOWN_HOSTS_LIMIT) knownHosts.add(host)
    return true
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
    check(headers, access, token) {
      if (!headers.host) return errors.HOST_MISSING()
      if (!hostIsServed(headers.host)) return errors.MISDIRECTED_HOST('add it to ALLOWED_HOSTS to serve it')
      if (access === 'change' && isCrossSite(headers)) return errors.CROSS_SITE()
      const digests = access === 'change' ? changeDigests : access === 'read' ? readDigests : []
      if (digests.length > 0 && !tokenFits(headers, token, digests)) {
        return errors.UNAUTHORIZED(undefined, { headers: { 'www-authenticate': 'Bearer' } })
      }
      return undefined
    },
  }
}

import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { errors } from '../errors.ts'
import type { AccessTokens, Bearer } from './access-tokens.ts'
import { invalidRequest, invalidToken } from './refusals.ts'

const COOKIE = '__Secure-mercure_access_token'

/** Three parts of base64url: a house token looks otherwise. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/

const BEARER = /^bearer(?: +|$)/i

/** Finds the access token of a request, in its header or its cookie. */
export class Bearers {
  readonly #tokens: AccessTokens | undefined
  readonly #origins: ReadonlySet<string>

  /** @param origins those whose pages may use the cookie, besides pages of the hub's own */
  constructor(tokens: AccessTokens | undefined, origins: readonly string[]) {
    this.#tokens = tokens
    this.#origins = new Set(origins)
  }

  /** Whether a request to a route that knows other tokens, too, bears one of these. */
  judges = ({ authorization, cookie }: RequestHeaders): boolean => {
    if (!this.#tokens || (authorization === undefined && cookie === undefined)) return false
    const credentials = String(authorization ?? '')
    if (BEARER.test(credentials)) return JWT.test(credentials.replace(BEARER, ''))
    return String(cookie ?? '').includes(`${COOKIE}=`)
  }

  /**
   * Who asks; nothing where no token is shown.
   * @throws Problem `INVALID_TOKEN`, `INVALID_REQUEST`, `ORIGIN_REFUSED`
   */
  of(headers: RequestHeaders, changes: boolean): Promise<Bearer> | undefined {
    const token = this.#tokenIn(headers, changes)
    if (token === undefined) return undefined
    // Without keys none can hold.
    return this.#tokens ? this.#tokens.judge(token) : Promise.reject(invalidToken())
  }

  #tokenIn(headers: RequestHeaders, changes: boolean): string | undefined {
    const credentials = String(headers.authorization ?? '')
    if (BEARER.test(credentials)) {
      const token = credentials.replace(BEARER, '')
      if (token === '' || /\s/.test(token)) throw invalidRequest('the Authorization header holds no token')
      return token
    }
    const pairs = String(headers.cookie ?? '').split(/; */)
    const [token, ...others] = pairs
      .filter((pair) => pair.startsWith(`${COOKIE}=`))
      .map((pair) => pair.slice(COOKIE.length + 1))
    if (token === undefined) return undefined
    if (others.length > 0) throw invalidRequest('the cookie came twice')
    if (!this.#mayUseCookie(headers, changes)) throw errors.ORIGIN_REFUSED()
    return token
  }

  /** A browser sends a cookie whoever's page asks; who asked it says in `Origin`, but not for reads of its own site. */
  #mayUseCookie({ origin, host, 'sec-fetch-site': site }: RequestHeaders, changes: boolean): boolean {
    if (origin !== undefined) {
      return this.#origins.has(String(origin)) || URL.parse(String(origin))?.host === String(host).toLowerCase()
    }
    return site === 'same-origin' || (!changes && (site === undefined || site === 'none'))
  }
}

import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { errors } from '../errors.ts'
import type { AccessTokens, Bearer } from './access-tokens.ts'
import { createInvalidRequestError, createInvalidTokenError } from './token-errors.ts'

const COOKIE_NAME = '__Secure-mercure_access_token'

/** Three parts of base64url. The tokens that all services share look different. */
const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]*$/

const BEARER_PREFIX = /^bearer(?: +|$)/i

/** Finds the access token of a request, in its header or its cookie. */
export class TokenAuth {
  readonly #tokens: AccessTokens | undefined
  readonly #origins: ReadonlySet<string>

  /** @param origins origins whose pages may use the cookie, in addition to pages of the hub itself */
  constructor(tokens: AccessTokens | undefined, origins: readonly string[]) {
    this.#tokens = tokens
    this.#origins = new Set(origins)
  }

  /** True if a request has an access token of this kind, on a route that also accepts other tokens. */
  hasServiceToken = ({ authorization, cookie }: RequestHeaders): boolean => {
    if (!this.#tokens || (authorization === undefined && cookie === undefined)) return false
    const credentials = String(authorization ?? '')
    if (BEARER_PREFIX.test(credentials)) return JWT_PATTERN.test(credentials.replace(BEARER_PREFIX, ''))
    return String(cookie ?? '').includes(`${COOKIE_NAME}=`)
  }

  /**
   * Returns the bearer of the request's token; undefined without a token.
   * @throws Problem `INVALID_TOKEN`, `INVALID_REQUEST`, `ORIGIN_REFUSED`
   */
  authenticate(headers: RequestHeaders, changes: boolean): Promise<Bearer> | undefined {
    const token = this.#findToken(headers, changes)
    if (token === undefined) return undefined
    // Without keys no token is valid.
    return this.#tokens ? this.#tokens.verify(token) : Promise.reject(createInvalidTokenError())
  }

  #findToken(headers: RequestHeaders, changes: boolean): string | undefined {
    const credentials = String(headers.authorization ?? '')
    if (BEARER_PREFIX.test(credentials)) {
      const token = credentials.replace(BEARER_PREFIX, '')
      if (token === '' || /\s/.test(token)) throw createInvalidRequestError('the Authorization header has no token')
      return token
    }
    const pairs = String(headers.cookie ?? '').split(/; */)
    const [token, ...duplicates] = pairs
      .filter((pair) => pair.startsWith(`${COOKIE_NAME}=`))
      .map((pair) => pair.slice(COOKIE_NAME.length + 1))
    if (token === undefined) return undefined
    if (duplicates.length > 0) throw createInvalidRequestError('repeated cookie')
    if (!this.#canUseCookie(headers, changes)) throw errors.ORIGIN_REFUSED()
    return token
  }

  /**
   * A browser sends the cookie with requests of any page. `Origin` names that page, but is absent from reads of the
   * same site.
   */
  #canUseCookie({ origin, host, 'sec-fetch-site': site }: RequestHeaders, changes: boolean): boolean {
    if (origin !== undefined) {
      return this.#origins.has(String(origin)) || URL.parse(String(origin))?.host === String(host).toLowerCase()
    }
    return site === 'same-origin' || (!changes && (site === undefined || site === 'none'))
  }
}

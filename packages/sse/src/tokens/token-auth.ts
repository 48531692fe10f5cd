import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { errors } from '../errors.ts'
import type { AccessTokens, Bearer } from './access-tokens.ts'
import { createInvalidRequestError, createInvalidTokenError } from './token-errors.ts'

const COOKIE_NAME = '__Secure-mercure_access_token'

/** Three parts of base64url: a house token looks otherwise. */
const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]*$/

const BEARER_PREFIX = /^bearer(?: +|$)/i

/** Finds the access token of a request, in its header or its cookie. */
export class TokenAuth {
  readonly #tokens: AccessTokens | undefined
  readonly #origins: ReadonlySet<string>

  /** @param origins those whose pages may use the cookie, besides pages of the hub's own */
  constructor(tokens: AccessTokens | undefined, origins: readonly string[]) {
    this.#tokens = tokens
    this.#origins = new Set(origins)
  }

  /** Whether a request to a route that knows other tokens, too, bears one of these. */
  hasServiceToken = ({ authorization, cookie }: RequestHeaders): boolean => {
    if (!this.#tokens || (authorization === undefined && cookie === undefined)) return false
    const credentials = String(authorization ?? '')
    if (BEARER_PREFIX.test(credentials)) return JWT_PATTERN.test(credentials.replace(BEARER_PREFIX, ''))
    return String(cookie ?? '').includes(`${COOKIE_NAME}=`)
  }

  /**
   * Who asks; nothing where no token is shown.
   * @throws Problem `INVALID_TOKEN`, `INVALID_REQUEST`, `ORIGIN_REFUSED`
   */
  authenticate(headers: RequestHeaders, changes: boolean): Promise<Bearer> | undefined {
    const token = this.#findToken(headers, changes)
    if (token === undefined) return undefined
    // Without keys none can hold.
    return this.#tokens ? this.#tokens.verify(token) : Promise.reject(createInvalidTokenError())
  }

  #findToken(headers: RequestHeaders, changes: boolean): string | undefined {
    const credentials = String(headers.authorization ?? '')
    if (BEARER_PREFIX.test(credentials)) {
      const token = credentials.replace(BEARER_PREFIX, '')
      if (token === '' || /\s/.test(token)) throw createInvalidRequestError('the Authorization header holds no token')
      return token
    }
    const pairs = String(headers.cookie ?? '').split(/; */)
    const [token, ...duplicates] = pairs
      .filter((pair) => pair.startsWith(`${COOKIE_NAME}=`))
      .map((pair) => pair.slice(COOKIE_NAME.length + 1))
    if (token === undefined) return undefined
    if (duplicates.length > 0) throw createInvalidRequestError('the cookie came twice')
    if (!this.#canUseCookie(headers, changes)) throw errors.ORIGIN_REFUSED()
    return token
  }

  /** A browser sends a cookie whoever's page asks; who asked it says in `Origin`, but not for reads of its own site. */
  #canUseCookie({ origin, host, 'sec-fetch-site': site }: RequestHeaders, changes: boolean): boolean {
    if (origin !== undefined) {
      return this.#origins.has(String(origin)) || URL.parse(String(origin))?.host === String(host).toLowerCase()
    }
    return site === 'same-origin' || (!changes && (site === undefined || site === 'none'))
  }
}

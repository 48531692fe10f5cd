import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { errors } from '../errors.ts'
import type { AccessTokens, Bearer } from './access-tokens.ts'
import { createInvalidRequestError, createInvalidTokenError } from './token-errors.ts'

const COOKIE_NAME = '__Secure-mercure_access_token'
/** Name of the cookie in the protocol 0.x. */
const LEGACY_COOKIE_NAME = 'mercureAuthorization'

const BEARER_PREFIX = /^bearer(?: +|$)/i

/** Finds and verifies the access token of a request, in its `Authorization` header or its cookie. */
export class TokenAuth {
  readonly #tokens: AccessTokens | undefined
  readonly #origins: ReadonlySet<string>
  /** In order of precedence. */
  readonly #cookieNames: readonly string[]

  /**
   * @param origins origins whose pages may use the cookie, in addition to pages of the hub itself
   * @param isCompatible if true, the cookie of the protocol 0.x is accepted, too
   */
  constructor(tokens: AccessTokens | undefined, origins: readonly string[], isCompatible = false) {
    this.#tokens = tokens
    this.#origins = new Set(origins)
    this.#cookieNames = isCompatible ? [COOKIE_NAME, LEGACY_COOKIE_NAME] : [COOKIE_NAME]
  }

  /** True if the service has keys of access tokens. */
  get hasKeys(): boolean {
    return this.#tokens !== undefined
  }

  /** Returns the text after `Bearer`; undefined if the header has another form. */
  getBearer(authorization: RequestHeaders['authorization']): string | undefined {
    const credentials = String(authorization ?? '')
    return BEARER_PREFIX.test(credentials) ? credentials.replace(BEARER_PREFIX, '') : undefined
  }

  /** True if a request has a token, not verified yet, and this service has keys to verify access tokens. */
  hasServiceToken = ({ authorization, cookie }: RequestHeaders): boolean => {
    if (!this.#tokens || (authorization === undefined && cookie === undefined)) return false
    if (this.getBearer(authorization) !== undefined) return true
    const cookies = String(cookie ?? '')
    return this.#cookieNames.some((name) => cookies.includes(`${name}=`))
  }

  /**
   * Verifies the access token of a request. Returns undefined if the request has none.
   * @param isChange true if the request changes state
   * @param parameter token in the URL, if the mode of compatibility accepts it; a token in the header has precedence
   * @throws Problem `INVALID_TOKEN`, `INVALID_REQUEST`, `ORIGIN_REFUSED`
   */
  authenticate(headers: RequestHeaders, isChange: boolean, parameter?: string): Promise<Bearer> | undefined {
    const token = this.#findToken(headers, isChange, parameter)
    if (token === undefined) return undefined
    // Without keys no token is valid.
    return this.#tokens ? this.#tokens.verify(token, isChange) : Promise.reject(createInvalidTokenError())
  }

  #findToken(headers: RequestHeaders, isChange: boolean, parameter?: string): string | undefined {
    const bearer = this.getBearer(headers.authorization)
    if (bearer !== undefined) {
      if (bearer === '' || /\s/.test(bearer)) throw createInvalidRequestError('the Authorization header has no token')
      return bearer
    }
    if (parameter !== undefined) return parameter
    const pairs = String(headers.cookie ?? '').split(/; */)
    const name = this.#cookieNames.find((one) => pairs.some((pair) => pair.startsWith(`${one}=`)))
    if (name === undefined) return undefined
    const [token, ...duplicates] = pairs
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1))
    if (token === undefined) return undefined
    if (duplicates.length > 0) throw createInvalidRequestError('repeated cookie')
    if (!this.#canUseCookie(headers, isChange)) throw errors.ORIGIN_REFUSED()
    return token
  }

  /**
   * A browser sends the cookie with requests of pages of any site, so the cookie alone is not enough. `Origin` names
   * the origin of the page. It is absent from reads by the hub's own pages, which `Sec-Fetch-Site` marks as
   * `same-origin`. Reads without either header, or with `none` (an address that the user opened), do not come from
   * pages of other sites.
   */
  #canUseCookie({ origin, host, 'sec-fetch-site': site }: RequestHeaders, isChange: boolean): boolean {
    if (origin !== undefined) {
      return this.#origins.has(String(origin)) || URL.parse(String(origin))?.host === String(host).toLowerCase()
    }
    return site === 'same-origin' || (!isChange && (site === undefined || site === 'none'))
  }
}

import { createHash } from 'node:crypto'
import type { Access } from '@influencer-stats/runtime/request'
import { createRequestGuard } from '@influencer-stats/runtime/request-guard'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { FastifyRequest } from 'fastify'
import { findCookie } from './core/cookies.ts'
import { seal, unseal } from './core/seal.ts'
import { errors } from './errors.ts'
import type { DashboardConfig } from './settings.ts'

const COOKIE_NAME = 'dashboard_session'
const DAY_MS = 86_400_000

const NOT_SIGNED_IN_DETAIL = 'Sign in at the dashboard, or send one of its tokens as "Authorization: Bearer".'
const READ_ONLY_DETAIL = 'You are signed in for reading only. Sign in with the token for changes (API_TOKEN).'
const WRONG_TOKEN_DETAIL =
  'The token is neither the API_TOKEN nor the READ_TOKEN of the dashboard. Copy the whole token.'
const FOREIGN_CHANGE_DETAIL =
  'A change with a session cookie must come from a page of the dashboard. Programs send "Authorization: Bearer".'

/** The permissions of a client. */
export type Role = 'editor' | 'reader'

interface SignedSession {
  readonly role: Role
  readonly until: number
}

/** Authentication of clients, and the tokens that the dashboard sends to the services for them. */
export type Auth = ReturnType<typeof createAuth>

/**
 * Creates the authentication of clients. If any token is set, reads require a token, too: the page shows all campaigns.
 * @param secret the signing key of the store
 */
export function createAuth(config: DashboardConfig, secret: string) {
  const apiToken = config.apiToken || config.readToken
  const readToken = config.readToken || config.apiToken
  const guard = createRequestGuard({ ...config, apiToken, readToken })
  // A change of the tokens ends all sessions.
  const key = createHash('sha256')
    .update(JSON.stringify([secret, apiToken, readToken]))
    .digest('hex')
  const needed = apiToken !== ''
  const getToken = (role: Role) => (role === 'editor' ? apiToken : readToken)

  function readSession({ headers }: FastifyRequest): SignedSession | undefined {
    const cookie = findCookie(headers.cookie, COOKIE_NAME)
    const session = cookie === undefined ? undefined : unseal<SignedSession>(key, 'session', cookie)
    return session && session.until > Date.now() ? session : undefined
  }

  /** Checks the request as if it contained this token. */
  function checkWith({ raw }: FastifyRequest, access: Access, token: string | undefined): Problem | undefined {
    const headers = token === undefined ? raw.headers : { ...raw.headers, authorization: `Bearer ${token}` }
    return guard.check({ headers, url: raw.url, rawHeaders: raw.rawHeaders }, access)
  }

  /**
   * True if a page of an allowed origin sent the request. Browsers state the origin of every change, and the guard has
   * already refused every other `Origin`.
   */
  const isOwnPage = ({ headers }: FastifyRequest) =>
    headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin'

  /** The problem that refuses this request. Undefined if the request is allowed. */
  function check(request: FastifyRequest, access: 'read' | 'change'): Problem | undefined {
    const session = request.headers.authorization === undefined ? readSession(request) : undefined
    const fault = checkWith(request, access, session && getToken(session.role))
    if (fault?.code === 'UNAUTHORIZED') return errors.SIGN_IN_NEEDED(session ? READ_ONLY_DETAIL : NOT_SIGNED_IN_DETAIL)
    if (!fault && session && access === 'change' && !isOwnPage(request))
      return errors.ORIGIN_UNKNOWN(FOREIGN_CHANGE_DETAIL)
    return fault
  }

  const cookie = (request: FastifyRequest | undefined, value: string, seconds: number) => {
    const secure = request?.headers.origin?.startsWith('https:') ? '; Secure' : ''
    return `${COOKIE_NAME}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
  }

  return {
    /** True if clients must sign in. */
    needed,
    check,
    /** The role of the client that sent this request. Undefined if the client must sign in. */
    getRole(request: FastifyRequest): Role | undefined {
      if (!needed) return 'editor'
      if (request.headers.authorization === undefined) return readSession(request)?.role
      if (!checkWith(request, 'change', undefined)) return 'editor'
      return checkWith(request, 'read', undefined) ? undefined : 'reader'
    },
    /** The role and cookie of a client with this token. @throws Problem `TOKEN_WRONG`, or that of the guard */
    signIn(request: FastifyRequest, token: string): { readonly role: Role; readonly cookie: string } {
      // A token with whitespace is never valid.
      const safeToken = token.replace(/\s/g, '_')
      const fault = checkWith(request, 'change', safeToken)
      if (fault && fault.code !== 'UNAUTHORIZED') throw fault
      if (fault && checkWith(request, 'read', safeToken)) throw errors.TOKEN_WRONG(WRONG_TOKEN_DETAIL)
      const role = fault ? 'reader' : 'editor'
      const session: SignedSession = { role, until: Date.now() + config.sessionDays * DAY_MS }
      return { role, cookie: cookie(request, seal(key, 'session', session), config.sessionDays * 86_400) }
    },
    /** A cookie that removes the session cookie. */
    signOut: () => cookie(undefined, '', 0),
    /** The token for requests to a service on behalf of this role. */
    getToken: (role: Role) => getToken(role) || undefined,
  }
}

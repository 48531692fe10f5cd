import { createHash } from 'node:crypto'
import { createRequestGuard, type Access } from '@influencer-stats/runtime/request-guard'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { FastifyRequest } from 'fastify'
import { cookieOf } from './core/cookies.ts'
import { seal, unseal } from './core/sealed.ts'
import { errors } from './errors.ts'
import type { DashboardConfig } from './settings.ts'

const COOKIE = 'dashboard_session'
const DAY = 86_400_000

const NOT_SIGNED_IN = 'Sign in at the dashboard, or send one of its tokens as "Authorization: Bearer".'
const READ_ONLY = 'You are signed in for reading only. Sign in with the token for changes (API_TOKEN).'
const WRONG_TOKEN = 'This is neither the API_TOKEN nor the READ_TOKEN of the dashboard. Copy the whole token.'
const FOREIGN_CHANGE =
  'A change with a session cookie must come from a page of the dashboard. Programs send "Authorization: Bearer".'

/** What somebody may do here. */
export type Role = 'editor' | 'reader'

interface Session {
  readonly role: Role
  readonly until: number
}

/** Who asks, and what the services are told of it. */
export interface Visitors {
  /** Whether anybody has to sign in. */
  readonly needed: boolean
  /** What may be done by who asks so; nothing where they have to sign in. */
  roleOf(request: FastifyRequest): Role | undefined
  /** Why a request may not be answered, or nothing. */
  check(request: FastifyRequest, access: 'read' | 'change'): Problem | undefined
  /** The cookie for whoever has this token. @throws Problem `TOKEN_WRONG`, or why the page may not ask */
  signIn(request: FastifyRequest, token: string): { readonly role: Role; readonly cookie: string }
  /** A cookie that takes the session away. */
  signOut(): string
  /** The token that a service is asked with. */
  tokenFor(role: Role): string | undefined
}

type Settings = Pick<
  DashboardConfig,
  'host' | 'apiToken' | 'readToken' | 'allowedHosts' | 'corsOrigins' | 'sessionDays'
>

/** Where tokens are set, whoever reads has to show one, too: a page is for people, and all campaigns are on it. */
export function createVisitors(config: Settings, secret: string): Visitors {
  const apiToken = config.apiToken || config.readToken
  const readToken = config.readToken || config.apiToken
  const guard = createRequestGuard({ ...config, apiToken, readToken })
  // Other tokens end all sessions.
  const key = createHash('sha256')
    .update(JSON.stringify([secret, apiToken, readToken]))
    .digest('hex')
  const needed = apiToken !== ''
  const tokenOf = (role: Role) => (role === 'editor' ? apiToken : readToken)

  function sessionOf({ headers }: FastifyRequest): Session | undefined {
    const cookie = cookieOf(headers.cookie, COOKIE)
    const session = cookie === undefined ? undefined : unseal<Session>(key, 'session', cookie)
    return session && session.until > Date.now() ? session : undefined
  }

  /** As if the request had shown this token. */
  function checkWith({ raw }: FastifyRequest, access: Access, token: string | undefined): Problem | undefined {
    const headers = token === undefined ? raw.headers : { ...raw.headers, authorization: `Bearer ${token}` }
    return guard.check({ headers, url: raw.url, rawHeaders: raw.rawHeaders }, access)
  }

  /** Only a page of this origin: browsers say so of every change that a page makes. */
  const isOwnPage = ({ headers }: FastifyRequest) =>
    headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin'

  function check(request: FastifyRequest, access: 'read' | 'change'): Problem | undefined {
    const session = request.headers.authorization === undefined ? sessionOf(request) : undefined
    const fault = checkWith(request, access, session && tokenOf(session.role))
    if (fault?.code === 'UNAUTHORIZED') return errors.SIGN_IN_NEEDED(session ? READ_ONLY : NOT_SIGNED_IN)
    if (!fault && session && access === 'change' && !isOwnPage(request)) return errors.ORIGIN_UNKNOWN(FOREIGN_CHANGE)
    return fault
  }

  const cookie = (request: FastifyRequest | undefined, value: string, seconds: number) => {
    const secure = request?.headers.origin?.startsWith('https:') ? '; Secure' : ''
    return `${COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
  }

  return {
    needed,
    check,
    roleOf(request) {
      if (!needed) return 'editor'
      if (request.headers.authorization === undefined) return sessionOf(request)?.role
      if (!checkWith(request, 'change', undefined)) return 'editor'
      return checkWith(request, 'read', undefined) ? undefined : 'reader'
    },
    signIn(request, token) {
      // A token with a space in it is none.
      const shown = token.replace(/\s/g, '_')
      const fault = checkWith(request, 'change', shown)
      if (fault && fault.code !== 'UNAUTHORIZED') throw fault
      if (fault && checkWith(request, 'read', shown)) throw errors.TOKEN_WRONG(WRONG_TOKEN)
      const role = fault ? 'reader' : 'editor'
      const session: Session = { role, until: Date.now() + config.sessionDays * DAY }
      return { role, cookie: cookie(request, seal(key, 'session', session), config.sessionDays * 86_400) }
    },
    signOut: () => cookie(undefined, '', 0),
    tokenFor: (role) => tokenOf(role) || undefined,
  }
}

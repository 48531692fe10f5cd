import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import type { CommonSettings } from '@influencer-stats/runtime/settings'
import { createHash, timingSafeEqual } from 'node:crypto'
import { FULL_SCOPE, PUBLIC_SCOPE, type ReadScope } from '../core/read-scope.ts'
import type { SseConfig } from '../settings.ts'
import type { Bearer } from './access-tokens.ts'
import type { TokenAuth } from './token-auth.ts'
import { createNoTokenError } from './token-errors.ts'

/** Kinds of clients, by the token that they send: none, `READ_TOKEN`, `API_TOKEN`, or an access token. */
export type Caller = 'anonymous' | 'readToken' | 'apiToken' | 'accessToken'

/**
 * Kinds of requests: reading values, listing topics, publishing values and closing all streams; and at the hub, whose
 * protocol accepts only access tokens: reading updates, listing active subscriptions, and publishing.
 */
export type Operation = 'read' | 'list' | 'publish' | 'close' | 'hubRead' | 'hubList' | 'hubPublish'

/** What a caller may do: nothing; what concerns public updates; what its access token grants; everything. */
export type Right = 'none' | 'public' | 'granted' | 'all'

/** The rights of each caller for each operation. */
export type RightsTable = Readonly<Record<Caller, Readonly<Record<Operation, Right>>>>

export type PermissionSettings = Pick<SseConfig & CommonSettings, 'apiToken' | 'readToken' | 'mercureAnonymous'>

/**
 * Creates the table of rights.
 * @param hasKeys true if the service has keys of access tokens. Then clients without a token have the same rights on all
 *   routes: none, or reads of public updates.
 */
export function createRightsTable(
  { apiToken, readToken, mercureAnonymous }: PermissionSettings,
  hasKeys: boolean,
): RightsTable {
  const isOpen = !hasKeys && readToken === ''
  const hubRead = mercureAnonymous === 'on' && readToken === '' ? 'public' : 'none'
  const change = hasKeys || apiToken !== '' ? 'none' : 'all'
  const hub = { hubRead: 'none', hubList: 'none', hubPublish: 'none' } as const
  const anonymous = {
    read: isOpen ? 'public' : hasKeys ? hubRead : 'none',
    list: isOpen ? 'all' : hasKeys ? hubRead : 'none',
    publish: change,
    close: change,
    ...hub,
    hubRead,
  } as const
  return {
    anonymous,
    readToken: { ...anonymous, read: 'all', list: 'all', ...hub },
    apiToken: { read: 'all', list: 'all', publish: 'all', close: 'all', ...hub },
    accessToken: {
      read: 'granted',
      list: 'granted',
      publish: 'granted',
      close: 'none',
      hubRead: 'granted',
      hubList: 'granted',
      hubPublish: 'granted',
    },
  }
}

/** What the client of an authorized request may do. */
export interface Grant {
  /** The events that it may read, and the topics that it may list. */
  readonly reader: ReadScope
  /** The topics to which it may publish. */
  readonly publish: Pick<Bearer['publish'], 'isAllowed'>
  /** Issuer and subject of its access token, as one text, if it has them. */
  readonly client?: string | undefined
  /** Data that its access token attaches to a subscription. */
  readonly getPayload?: Bearer['getPayload']
  /** Expiry of its token (ms since 1970), if it has one. */
  readonly expiresAt?: number | undefined
}

const ALL_TOPICS: Grant['publish'] = { isAllowed: () => true }
const NO_TOPICS: Grant['publish'] = { isAllowed: () => false }
const FIXED_GRANTS: Readonly<Record<'public' | 'all', Grant>> = {
  public: { reader: PUBLIC_SCOPE, publish: NO_TOPICS },
  all: { reader: FULL_SCOPE, publish: ALL_TOPICS },
}

const CHANGES: ReadonlySet<Operation> = new Set(['publish', 'close', 'hubPublish'])
const HUB_OPERATIONS: ReadonlySet<Operation> = new Set(['hubRead', 'hubList', 'hubPublish'])

const digest = (secret: string) => createHash('sha256').update(secret).digest()

export interface PermissionsOptions {
  readonly settings: PermissionSettings
  readonly tokenAuth: TokenAuth
}

/** Decides for all routes whether a client may send a request, and for which topics. */
export class Permissions {
  readonly #table: RightsTable
  readonly #tokenAuth: TokenAuth
  /** Digests of the tokens of all services. */
  readonly #secrets: readonly (readonly [Caller, Buffer])[]
  /**
   * The callers of reads and of changes that pass the check of the runtime. Without keys, this check alone decides:
   * no digest is computed twice.
   */
  readonly #passed: { readonly read: Caller; readonly change: Caller } | undefined

  constructor({ settings, tokenAuth }: PermissionsOptions) {
    const { apiToken, readToken } = settings
    this.#table = createRightsTable(settings, tokenAuth.hasKeys)
    this.#tokenAuth = tokenAuth
    const secrets: readonly (readonly [Caller, string])[] = [
      ['apiToken', apiToken],
      ['readToken', readToken],
    ]
    this.#secrets = secrets.filter(([, secret]) => secret !== '').map(([caller, secret]) => [caller, digest(secret)])
    this.#passed = tokenAuth.hasKeys
      ? undefined
      : { read: readToken ? 'readToken' : 'anonymous', change: apiToken ? 'apiToken' : 'anonymous' }
  }

  /** True if `authorize` checks the token of a request, which the runtime then accepts in place of its own tokens. */
  hasServiceToken = (headers: RequestHeaders): boolean => this.#tokenAuth.hasServiceToken(headers)

  /**
   * Returns what the client of a request may do; a promise if it has an access token.
   * @param parameter token in the URL: `READ_TOKEN`; at the hub an access token, if the mode of compatibility accepts it there
   * @throws Problem `UNAUTHORIZED`, `INVALID_TOKEN`, `INVALID_REQUEST`, `ORIGIN_REFUSED`
   */
  authorize(operation: Operation, headers: RequestHeaders, parameter?: string): Grant | Promise<Grant> {
    const isChange = CHANGES.has(operation)
    const isHub = HUB_OPERATIONS.has(operation)
    if (this.#passed && !isHub) return this.#grant(isChange ? this.#passed.change : this.#passed.read, operation)
    const known = isHub ? undefined : this.#findCaller(headers, parameter)
    if (known) return this.#grant(known, operation)
    const bearer = this.#tokenAuth.authenticate(headers, isChange, isHub ? parameter : undefined)
    return bearer
      ? bearer.then((verified) => this.#grant('accessToken', operation, verified))
      : this.#grant('anonymous', operation)
  }

  /** Returns whose token a request has, if it is one of the tokens of all services. */
  #findCaller({ authorization }: RequestHeaders, parameter: string | undefined): Caller | undefined {
    if (this.#secrets.length === 0) return undefined
    const bearer = this.#tokenAuth.getBearer(authorization)
    const find = (token: string | undefined) => {
      const given = token ? digest(token) : undefined
      return given && this.#secrets.find(([, secret]) => timingSafeEqual(secret, given))?.[0]
    }
    return find(bearer) ?? (find(parameter) === 'readToken' ? 'readToken' : undefined)
  }

  #grant(caller: Caller, operation: Operation, bearer?: Bearer): Grant {
    const right = this.#table[caller][operation]
    if (right === 'none') throw createNoTokenError()
    return right === 'granted' ? bearer! : FIXED_GRANTS[right]
  }
}

/** Calls `use` with the result of `authorize`: at once if it is known, so that a request without a token does not wait. */
export function withGrant<T>(grant: Grant | Promise<Grant>, use: (grant: Grant) => T | Promise<T>): T | Promise<T> {
  return grant instanceof Promise ? grant.then(use) : use(grant)
}

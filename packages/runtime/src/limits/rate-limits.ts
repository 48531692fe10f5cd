import type { RequestHeaders } from '../server/hot-route.ts'
import { commonErrors } from '../http/common-errors.ts'
import { parseBearer } from '../http/request-guard.ts'
import { toPlainAddress } from '../http/networks.ts'
import type { Problem } from '../http/problems.ts'
import type { CommonSettings } from '../settings/settings.ts'
import { createBucketMemory, TokenBuckets, type BucketMemory, type TakeResult } from './token-buckets.ts'

/** What came of asking whether a request may be answered. */
export interface RateLimitResult {
  /** What its reply tells of the limits: names and values in turn. */
  readonly fields: readonly string[]
  readonly refusal: Problem | undefined
}

/** How many requests of whom are answered. */
export interface RateLimits {
  /** @param address of who asks @param cost what the request counts as */
  take(headers: RequestHeaders, address: string | undefined, cost?: number): RateLimitResult
}

type RateLimitSettings = Pick<CommonSettings, 'rateLimitPerIp' | 'rateLimitPerToken' | 'rateLimitWindow'>

/** What all threads of a process count in; nothing where there is no limit. */
export const createLimitMemory = ({ rateLimitPerIp, rateLimitPerToken }: RateLimitSettings): BucketMemory | undefined =>
  rateLimitPerIp > 0 || rateLimitPerToken > 0 ? createBucketMemory() : undefined

interface RateLimitPolicy {
  readonly name: string
  /** What `RateLimit-Policy` says of it. */
  readonly text: string
  /** What a refusal says. */
  readonly detail: string
  readonly buckets: TokenBuckets
  /** Whose requests are counted together; nothing where this limit is not the request's. */
  getClient(headers: RequestHeaders, address: string | undefined): string | undefined
}

/**
 * Limits as the settings say. Every limit that is a request's takes what it costs, and what one refuses is refused.
 * @param memory none where there is no limit
 */
export function createRateLimits(
  memory: BucketMemory | undefined,
  { rateLimitPerIp, rateLimitPerToken, rateLimitWindow }: RateLimitSettings,
  now?: () => bigint,
): RateLimits | undefined {
  if (!memory) return undefined
  const policies: RateLimitPolicy[] = []
  function add(name: string, limit: number, getClient: RateLimitPolicy['getClient']): void {
    if (limit === 0) return
    const buckets = new TokenBuckets(memory!, limit, rateLimitWindow, now)
    const text = `"${name}";q=${limit};w=${rateLimitWindow}`
    policies.push({
      name,
      text,
      detail: `${limit} requests of one ${name} in ${rateLimitWindow} s`,
      buckets,
      getClient,
    })
  }
  add('address', rateLimitPerIp, (_headers, address) => address && `address ${toClientNetwork(address)}`)
  add('token', rateLimitPerToken, (headers) => {
    const token = parseBearer(headers)
    return token && `token ${token}`
  })

  return {
    take(headers, address, cost = 1) {
      const remainingFields: string[] = []
      const policyFields: string[] = []
      let refusal: Problem | undefined
      for (const { name, text, detail, buckets, getClient: clientOf } of policies) {
        const client = clientOf(headers, address)
        if (client === undefined || client === '') continue
        const result = buckets.take(client, cost)
        policyFields.push(text)
        remainingFields.push(`"${name}";r=${result.remaining};t=${result.fullInS}`)
        if (!result.isAllowed) refusal ??= refuse(detail, result)
      }
      const fields =
        policyFields.length === 0
          ? []
          : ['ratelimit-policy', policyFields.join(', '), 'ratelimit', remainingFields.join(', ')]
      return { fields, refusal }
    },
  }
}

const refuse = (detail: string, { retryAfterS }: TakeResult) =>
  commonErrors.RATE_LIMITED(detail, { headers: { 'retry-after': String(retryAfterS) } })

const NETWORK_GROUPS = 4

/** Who has an address of IPv6 has 64 bits of them: all these are one client. */
export function toClientNetwork(text: string): string {
  const address = toPlainAddress(text)
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const [before, after] = [head, tail].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after]
    .slice(0, NETWORK_GROUPS)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')
}

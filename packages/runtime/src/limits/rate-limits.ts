import { commonErrors } from '../errors/common-errors.ts'
import { parseBearer, type RequestHeaders } from '../net/request.ts'
import { toClientNetwork } from '../net/client-network.ts'
import type { Problem } from '../errors/problems.ts'
import type { CommonSettings } from '../settings/settings.ts'
import { createBucketMemory, TokenBuckets, type BucketMemory, type TakeResult } from './token-buckets.ts'

/** Result of the rate limits for one request. */
export interface RateLimitResult {
  /** Header fields of the limits for the reply: names and values alternate. */
  readonly fields: readonly string[]
  readonly refusal: Problem | undefined
}

/** Limits the number of requests of each address and token. */
export interface RateLimits {
  /**
   * Counts a request, and refuses it if a limit is exceeded.
   * @param address address of the client
   * @param cost number of requests that this request counts as
   */
  take(headers: RequestHeaders, address: string | undefined, cost?: number): RateLimitResult
}

type RateLimitSettings = Pick<CommonSettings, 'rateLimitPerIp' | 'rateLimitPerToken' | 'rateLimitWindow'>

/** Creates the memory in which all threads of a process count requests. Undefined if there is no limit. */
export const createLimitMemory = ({ rateLimitPerIp, rateLimitPerToken }: RateLimitSettings): BucketMemory | undefined =>
  rateLimitPerIp > 0 || rateLimitPerToken > 0 ? createBucketMemory() : undefined

interface RateLimitPolicy {
  readonly name: string
  /** Description in `RateLimit-Policy`. */
  readonly text: string
  /** Detail of a refusal. */
  readonly detail: string
  readonly buckets: TokenBuckets
  /**
   * Returns a key for the client. Requests with the same key are counted together. Undefined if the limit does not
   * apply to the request.
   */
  getClient(headers: RequestHeaders, address: string | undefined): string | undefined
}

/**
 * Creates the limits that the settings define. A request takes its cost from every limit that applies to it and has
 * enough left. It is refused if any limit has less.
 * @param memory undefined if there is no limit
 */
export function createRateLimits(
  memory: BucketMemory | undefined,
  { rateLimitPerIp, rateLimitPerToken, rateLimitWindow }: RateLimitSettings,
  now?: () => bigint,
): RateLimits | undefined {
  if (!memory) return undefined
  const policies: RateLimitPolicy[] = []
  function addPolicy(name: string, limit: number, getClient: RateLimitPolicy['getClient']): void {
    if (limit === 0) return
    const buckets = new TokenBuckets(memory!, limit, rateLimitWindow, now)
    const text = `"${name}";q=${limit};w=${rateLimitWindow}`
    policies.push({
      name,
      text,
      detail: `maximum of ${limit} requests per ${name} in ${rateLimitWindow} s`,
      buckets,
      getClient,
    })
  }
  addPolicy('address', rateLimitPerIp, (_headers, address) => address && `address ${toClientNetwork(address)}`)
  addPolicy('token', rateLimitPerToken, (headers) => {
    const token = parseBearer(headers)
    return token && `token ${token}`
  })

  return {
    take(headers, address, cost = 1) {
      const remainingFields: string[] = []
      const policyFields: string[] = []
      let refusal: Problem | undefined
      for (const { name, text, detail, buckets, getClient } of policies) {
        const client = getClient(headers, address)
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

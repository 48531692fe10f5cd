import type { RequestHeaders } from '../door/hot-route.ts'
import { errors } from '../http/errors.ts'
import { bearerOf } from '../http/guard.ts'
import { plainAddress } from '../http/networks.ts'
import type { Problem } from '../http/problems.ts'
import type { CommonSettings } from '../settings/settings.ts'
import { bucketMemory, Buckets, type BucketMemory, type Taken } from './buckets.ts'

/** What came of asking whether a request may be answered. */
export interface Verdict {
  /** What its reply tells of the limits: names and values in turn. */
  readonly fields: readonly string[]
  readonly refusal: Problem | undefined
}

/** How many requests of whom are answered. */
export interface Limits {
  /** @param address of who asks @param cost what the request counts as */
  take(headers: RequestHeaders, address: string | undefined, cost?: number): Verdict
}

type LimitSettings = Pick<CommonSettings, 'rateLimitPerIp' | 'rateLimitPerToken' | 'rateLimitWindow'>

/** What all threads of a process count in; nothing where there is no limit. */
export const limitMemory = ({ rateLimitPerIp, rateLimitPerToken }: LimitSettings): BucketMemory | undefined =>
  rateLimitPerIp > 0 || rateLimitPerToken > 0 ? bucketMemory() : undefined

interface Policy {
  readonly name: string
  /** What `RateLimit-Policy` says of it. */
  readonly text: string
  /** What a refusal says. */
  readonly detail: string
  readonly buckets: Buckets
  /** Whose requests are counted together; nothing where this limit is not the request's. */
  clientOf(headers: RequestHeaders, address: string | undefined): string | undefined
}

/**
 * Limits as the settings say. Every limit that is a request's takes what it costs, and what one refuses is refused.
 * @param memory none where there is no limit
 */
export function createLimits(
  memory: BucketMemory | undefined,
  { rateLimitPerIp, rateLimitPerToken, rateLimitWindow }: LimitSettings,
  now?: () => bigint,
): Limits | undefined {
  if (!memory) return undefined
  const policies: Policy[] = []
  function add(name: string, limit: number, clientOf: Policy['clientOf']): void {
    if (limit === 0) return
    const buckets = new Buckets(memory!, limit, rateLimitWindow, now)
    const text = `"${name}";q=${limit};w=${rateLimitWindow}`
    policies.push({ name, text, detail: `${limit} requests of one ${name} in ${rateLimitWindow} s`, buckets, clientOf })
  }
  add('address', rateLimitPerIp, (_headers, address) => address && `address ${networkOf(address)}`)
  add('token', rateLimitPerToken, (headers) => {
    const token = bearerOf(headers)
    return token && `token ${token}`
  })

  return {
    take(headers, address, cost = 1) {
      const told: string[] = []
      const asked: string[] = []
      let refusal: Problem | undefined
      for (const { name, text, detail, buckets, clientOf } of policies) {
        const client = clientOf(headers, address)
        if (client === undefined || client === '') continue
        const taken = buckets.take(client, cost)
        asked.push(text)
        told.push(`"${name}";r=${taken.left};t=${taken.fullIn}`)
        if (!taken.isEnough) refusal ??= refuse(detail, taken)
      }
      const fields = asked.length === 0 ? [] : ['ratelimit-policy', asked.join(', '), 'ratelimit', told.join(', ')]
      return { fields, refusal }
    },
  }
}

const refuse = (detail: string, { enoughIn }: Taken) =>
  errors.RATE_LIMITED(detail, { headers: { 'retry-after': String(enoughIn) } })

const GROUPS = 4

/** Who has an address of IPv6 has 64 bits of them: all these are one client. */
export function networkOf(text: string): string {
  const address = plainAddress(text)
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const [before, after] = [head, tail].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after]
    .slice(0, GROUPS)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')
}

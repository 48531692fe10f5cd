import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import type { KvWrite } from '../store/store.ts'

const RESPOND_ASYNC_PATTERN = /(?:^|[,\s])respond-async(?:$|[,;\s])/i

/** True if the client prefers a reply before the write, and requests no result that is known only after it. */
export function isAsyncPreferred({ durable, condition, isSpecial }: KvWrite, { prefer }: RequestHeaders): boolean {
  if (prefer === undefined || durable || condition !== undefined || isSpecial) return false
  return RESPOND_ASYNC_PATTERN.test(String(prefer))
}

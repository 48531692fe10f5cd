import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import type { KvWrite } from '../store/store.ts'

const RESPOND_ASYNC_PATTERN = /(?:^|[,\s])respond-async(?:$|[,;\s])/i

/** Whether who asks would rather not wait, and asks for nothing that only a write which was made can tell. */
export function isAsyncPreferred({ durable, condition, isSpecial }: KvWrite, { prefer }: RequestHeaders): boolean {
  if (prefer === undefined || durable || condition !== undefined || isSpecial) return false
  return RESPOND_ASYNC_PATTERN.test(String(prefer))
}

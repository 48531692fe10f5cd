import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { KEY_REUSED } from '../core/evaluate-writes.ts'
import { errors } from '../errors.ts'
import type { KvWrite } from '../store/store.ts'

/** A string of structured fields (RFC 9651), or the same characters without quotes. */
const IDEMPOTENCY_KEY_PATTERN = /^(?:"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255}))$/

/**
 * Returns the write with the idempotency key of the request, and sets `isSpecial` as `LoggedWrite` defines it.
 * @param isTimed true if the write changes an expiry
 * @throws IDEMPOTENCY_KEY_INVALID
 */
export function addIdempotencyKey(write: KvWrite, headers: RequestHeaders, isTimed: boolean): KvWrite {
  const header = headers['idempotency-key']
  if (header === undefined) return isTimed ? { ...write, isSpecial: true } : write
  const [, quoted, plain] = IDEMPOTENCY_KEY_PATTERN.exec(String(header)) ?? []
  const idempotencyKey = quoted ?? plain
  if (idempotencyKey === undefined)
    throw errors.IDEMPOTENCY_KEY_INVALID(
      `Idempotency-Key must be 1 to 255 visible characters such as "8e03978e"; received ${String(header).length} characters`,
    )
  return { ...write, idempotencyKey, isSpecial: true }
}

/** Returns the revision of a write that took effect. @throws CONDITION_FAILED, IDEMPOTENCY_KEY_REUSED */
export function requireRevision(outcome: string | undefined): string {
  if (outcome === undefined) throw errors.CONDITION_FAILED()
  if (outcome === KEY_REUSED) throw errors.IDEMPOTENCY_KEY_REUSED()
  return outcome
}

const RESPOND_ASYNC_PATTERN = /(?:^|[,\s])respond-async(?:$|[,;\s])/i

/** True if the client prefers a reply before the write, and requests no result that is known only after it. */
export function isAsyncPreferred({ durable, condition, isSpecial }: KvWrite, { prefer }: RequestHeaders): boolean {
  if (prefer === undefined || durable || condition !== undefined || isSpecial) return false
  return RESPOND_ASYNC_PATTERN.test(String(prefer))
}

import type { ModelOutcome } from './outcome.ts'
import type { ExpiryInterval, RequestInterval } from './key-space.ts'

interface CheckedReply extends RequestInterval {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** Returns the difference between a reply and an outcome, except for the ETag; undefined if they match. */
export function findMismatch(outcome: ModelOutcome, reply: CheckedReply, isHead: boolean): string | undefined {
  const { status, code, body, contentLength, expiry } = outcome
  if (reply.status !== status) return `status ${status}`
  if (code !== undefined && !isHead && parseCode(reply.body) !== code) return `code ${code}`
  if (body !== undefined && !reply.body.equals(body)) return `a body of ${body.length} bytes`
  if (contentLength !== undefined && reply.headers.get('content-length') !== String(contentLength))
    return `content-length ${contentLength}`
  return expiry === undefined ? undefined : findWrongExpiry(expiry, reply)
}

/**
 * Returns the difference between a reply and an expiry; undefined if they match. `remaining` applies to some moment between
 * request and reply.
 */
function findWrongExpiry(
  expiry: ExpiryInterval | null,
  { body, sentAt, receivedAt }: CheckedReply,
): string | undefined {
  const { expiresAt, remaining } = JSON.parse(body.toString()) as { expiresAt: number | null; remaining: number | null }
  if (!expiry || expiresAt === null || remaining === null)
    return expiry || expiresAt !== null || remaining !== null ? `an expiry of ${JSON.stringify(expiry)}` : undefined
  const isTime = expiresAt >= expiry.earliest && expiresAt <= expiry.latest
  const isRest = remaining >= Math.max(0, expiresAt - receivedAt) && remaining <= expiresAt - sentAt
  return isTime && isRest ? undefined : `an expiry of ${JSON.stringify(expiry)}, and the rest of that`
}

/** Returns the code of a problem; undefined for any other body. */
export function parseCode(body: Buffer): string | undefined {
  try {
    return (JSON.parse(body.toString()) as { code?: string }).code
  } catch {
    return undefined
  }
}

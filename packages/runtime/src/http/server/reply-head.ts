import type { RequestHeaders, BufferedReply } from '../hot-route.ts'

/** True if a client with this `If-None-Match` already has the body. Tags are compared weakly. */
export function matchesEtag(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (typeof ifNoneMatch !== 'string') return false
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}

/** True if the client already has the reply's body. */
export const isUnchanged = ({ status, etag }: BufferedReply, request: RequestHeaders, isRead: boolean): boolean =>
  isRead && status === 200 && etag !== undefined && matchesEtag(request['if-none-match'], etag)

/** Returns the headers of a reply as one flat list, so that every server adapter sends the same. */
export function toHeaders({ headers: own, etag, type, body }: BufferedReply, unchanged: boolean): string[] {
  const headers = [...own]
  if (etag !== undefined) headers.push('etag', etag)
  if (unchanged) return headers
  if (type !== undefined) headers.push('content-type', type)
  headers.push('content-length', String(Buffer.byteLength(body)))
  return headers
}

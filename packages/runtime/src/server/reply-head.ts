import type { RequestHeaders, BufferedReply } from './hot-route.ts'

/** Whether a client that sent this `If-None-Match` has the body already: tags are compared weakly. */
export function matchesEtag(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (typeof ifNoneMatch !== 'string') return false
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}

/** Whether a reply need not be sent to who asks: it is had already. */
export const isUnchanged = ({ status, etag }: BufferedReply, request: RequestHeaders, isRead: boolean): boolean =>
  isRead && status === 200 && etag !== undefined && matchesEtag(request['if-none-match'], etag)

/** What a reply says of itself, whoever asks: one flat list of headers, so that every door sends the same. */
export function toHeaders({ headers: own, etag, type, body }: BufferedReply, unchanged: boolean): string[] {
  const headers = [...own]
  if (etag !== undefined) headers.push('etag', etag)
  if (unchanged) return headers
  if (type !== undefined) headers.push('content-type', type)
  headers.push('content-length', String(Buffer.byteLength(body)))
  return headers
}

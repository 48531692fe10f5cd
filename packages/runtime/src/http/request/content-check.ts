import type { IncomingMessage } from 'node:http'
import { formatReceived } from '../../received-value.ts'
import { commonErrors } from '../../errors/common-errors.ts'
import type { Problem } from '../../errors/problems.ts'

const METHODS_WITH_CONTENT = new Set(['PUT', 'POST', 'PATCH'])

const parseCodings = (field: string) =>
  field
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim().replace(/^x-gzip$/, 'gzip'))
    .filter((coding) => coding !== '' && coding !== 'identity')

/** True if header fields change the meaning of the content. Hot routes leave such a request to Fastify. */
export const hasContentFields = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['content-encoding'] !== undefined || headers['content-range'] !== undefined

/** True if the content is compressed by gzip. */
export const isGzipContent = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  parseCodings(headers['content-encoding'] ?? '').includes('gzip')

/**
 * Returns the reason why a server cannot read the content of a request, judged by the head. Undefined if it can.
 * @param encodings content codings that the route decodes in addition to `identity`
 */
export function checkContent(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  encodings: readonly string[] = [],
): Problem | undefined {
  const { 'transfer-encoding': transfer, 'content-encoding': encoding, 'content-range': range } = headers
  if (transfer !== undefined && transfer.trim().toLowerCase() !== 'chunked')
    // The connection ends with this reply: Node's parser may fail on the body, and would then reply a second time.
    return commonErrors.TRANSFER_ENCODING_UNSUPPORTED(
      `Transfer-Encoding must be chunked; received ${formatReceived(transfer)}`,
      { headers: { connection: 'close' } },
    )
  if (range !== undefined && method === 'PUT')
    return commonErrors.CONTENT_RANGE_UNSUPPORTED(`Content-Range must be absent; received ${formatReceived(range)}`)
  if (encoding === undefined || !METHODS_WITH_CONTENT.has(method!)) return undefined
  const codings = parseCodings(encoding)
  if (codings.length <= 1 && codings.every((coding) => encodings.includes(coding))) return undefined
  const accepted = [...encodings, 'identity']
  return commonErrors.CONTENT_ENCODING_UNSUPPORTED(
    `Content-Encoding must be ${accepted.join(' or ')}; received ${formatReceived(encoding)}`,
    { headers: { 'accept-encoding': accepted.join(', ') } },
  )
}

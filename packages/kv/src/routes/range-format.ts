import type { IncomingHttpHeaders } from 'node:http'

export const NDJSON_TYPE = 'application/x-ndjson'
export const OCTETS_TYPE = 'application/octet-stream'

/**
 * `lines`: NDJSON, one line per entry. `chunks`: one chunk of the chunked coding per entry, as in the source's service.
 */
export type RangeFormat = 'lines' | 'chunks'

/**
 * Returns the format of a range for a client. Chunks are for clients that name this format, and for the source's load
 * scripts: wrk2 sends no `User-Agent`, and no `Accept` or one that accepts anything. Browsers, curl and common
 * libraries send a `User-Agent`.
 */
export function selectRangeFormat(
  { accept, 'user-agent': agent }: IncomingHttpHeaders,
  httpVersion: string,
): RangeFormat {
  // HTTP/1.0 has no chunked coding.
  if (httpVersion === '1.0' || accept?.includes(NDJSON_TYPE)) return 'lines'
  if (accept?.includes(OCTETS_TYPE)) return 'chunks'
  return agent === undefined && (accept === undefined || accept === '*/*') ? 'chunks' : 'lines'
}

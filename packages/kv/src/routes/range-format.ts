import type { IncomingHttpHeaders } from 'node:http'

export const NDJSON_TYPE = 'application/x-ndjson'
export const OCTETS_TYPE = 'application/octet-stream'

/**
 * Format of a range. `lines`: NDJSON, one line per entry. `chunks`: one chunk of the chunked coding per entry. This is
 * the format of the source (the Java service that this one reimplements).
 */
export type RangeFormat = 'lines' | 'chunks'

/**
 * Selects the format of a range for a client. `chunks` is for clients that request this format, and for the load scripts
 * of the source: wrk2 sends no `User-Agent`, and no `Accept` or one that accepts anything. Browsers, curl and common
 * libraries send a `User-Agent`, and get `lines`.
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

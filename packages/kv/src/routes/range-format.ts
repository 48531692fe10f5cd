import type { IncomingHttpHeaders } from 'node:http'

export const NDJSON = 'application/x-ndjson'
export const OCTETS = 'application/octet-stream'

/** `lines`: NDJSON, a line an entry. `chunks`: a chunk of the chunked coding an entry, as the source's service has it. */
export type RangeFormat = 'lines' | 'chunks'

/**
 * The format that a client gets a range in. Chunks are for clients that name them, and for load scripts of the source: wrk2
 * sends no `User-Agent`, and no `Accept` or one of everything. Browsers, curl and most libraries send a `User-Agent`.
 */
export function rangeFormat({ accept, 'user-agent': agent }: IncomingHttpHeaders, httpVersion: string): RangeFormat {
  // HTTP/1.0 has no chunks to put entries in.
  if (httpVersion === '1.0' || accept?.includes(NDJSON)) return 'lines'
  if (accept?.includes(OCTETS)) return 'chunks'
  return agent === undefined && (accept === undefined || accept === '*/*') ? 'chunks' : 'lines'
}

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { LAST_CHUNK, toChunks, type Entry } from '../core/frames.ts'
import { putLine } from '../core/lines.ts'
import type { Scan } from '../store/store.ts'

const COMMON_HEADERS = ['x-content-type-options', 'nosniff', 'cache-control', 'no-cache', 'vary', 'accept']

/** Ways to put entries on the wire. */
const formats = {
  /** A line each. Node makes the chunks, of many lines. */
  lines: {
    headers: ['content-type', 'application/x-ndjson'],
    open: () => {},
    render: (entries: readonly Entry[]) => entries.map(([key, value]) => putLine(key, value)).join(''),
    end: '',
  },
  /** A chunk each. */
  chunks: {
    headers: ['content-type', 'application/octet-stream', 'transfer-encoding', 'chunked'],
    /** The head promises chunks; from now on Node sends bytes as they are, and they are the chunks. */
    open(response: ServerResponse) {
      response.chunkedEncoding = false
    },
    render: toChunks,
    end: LAST_CHUNK,
  },
} as const

/**
 * Sends a scan, slice by slice, each only when the client has taken the one before. Rejects only before anything was
 * sent; a later fault cuts the connection, so that the client cannot take a part for the whole.
 * @param begin called when the first slice is there
 */
export async function streamScan(
  scan: Scan,
  format: keyof typeof formats,
  response: ServerResponse,
  hookHeaders: readonly string[],
  begin: () => void,
): Promise<void> {
  const { headers, open, render, end } = formats[format]
  try {
    let entries = await scan.next()
    begin()
    response.writeHead(200, [...hookHeaders, ...COMMON_HEADERS, ...headers])
    open(response)
    while (entries.length > 0 && !response.destroyed) {
      // The next slice is read while this one is sent.
      const next = scan.next()
      next.catch(() => {})
      if (!response.write(render(entries))) await drained(response)
      entries = await next
    }
    response.end(end)
  } catch (error) {
    if (!response.headersSent) throw error
    response.destroy()
  } finally {
    await scan.close()
  }
}

/** Resolves when the client has taken what was sent, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  const waiting = new AbortController()
  const { signal } = waiting
  if (response.destroyed) return
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  } finally {
    waiting.abort()
  }
}

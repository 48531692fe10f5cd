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

// A client has the time for one write for each so many bytes of it.
const PIECE = 262_144

/**
 * Sends a scan, slice by slice, each only when the client has taken the one before. Rejects only before anything was
 * sent; a later fault cuts the connection, so that the client cannot take a part for the whole, and so does a client
 * that takes less than 256 KiB in `timeout` ms: as long as it has not taken all, nothing of the base as it was when the
 * scan began can be thrown away.
 * @param begin called when the first slice is there
 */
export async function streamScan(
  scan: Scan,
  format: keyof typeof formats,
  response: ServerResponse,
  { headers: hookHeaders, timeout, begin }: { headers: readonly string[]; timeout: number; begin: () => void },
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
      if (!response.write(render(entries))) await drained(response, timeout)
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

/** Resolves when the client has taken what was sent, or is gone; one that does not take it in time is cut. */
async function drained(response: ServerResponse, timeout: number): Promise<void> {
  const waiting = new AbortController()
  const { signal } = waiting
  if (response.destroyed) return
  const pieces = Math.ceil(response.writableLength / PIECE)
  const deadline = setTimeout(() => response.destroy(), timeout * pieces)
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  } finally {
    clearTimeout(deadline)
    waiting.abort()
  }
}

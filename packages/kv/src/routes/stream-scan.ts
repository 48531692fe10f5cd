import type { MemoryHold } from '@influencer-stats/runtime/budget'
import { createMemoryFull } from '@influencer-stats/runtime/errors'
import { sendChunks } from '@influencer-stats/runtime/stream-reply'
import type { ServerResponse } from 'node:http'
import { LAST_CHUNK, toChunks, toKeyChunks } from '../core/entry-chunks.ts'
import { toKeyLines, toEntryLines } from '../core/range-lines.ts'
import type { KvScan } from '../store/store.ts'

const COMMON_HEADERS = ['x-content-type-options', 'nosniff', 'cache-control', 'no-cache', 'vary', 'accept, user-agent']

/** Ways to put entries on the wire. */
const formats = {
  /** One line per entry. Node makes the chunks, of many lines. */
  lines: {
    headers: ['content-type', 'application/x-ndjson'],
    open: () => {},
    render: toEntryLines,
    renderKeys: toKeyLines,
    end: '',
  },
  /** One chunk per entry. */
  chunks: {
    headers: ['content-type', 'application/octet-stream', 'transfer-encoding', 'chunked'],
    /** The head announces chunks. From now on Node sends the bytes unchanged, and they are the chunks. */
    open(response: ServerResponse) {
      response.chunkedEncoding = false
    },
    render: toChunks,
    renderKeys: toKeyChunks,
    end: LAST_CHUNK,
  },
} as const

interface ScanStreamOptions {
  readonly headers: readonly string[]
  /** Omits values. */
  readonly keysOnly?: boolean
  /** Maximum time for a client to take a part of the reply (ms). */
  readonly timeout: number
  /** Memory reservation for the slices. */
  readonly hold: MemoryHold
  /** Called when the first slice has been read. */
  readonly begin: () => void
}

/**
 * Creates a function that reserves memory for a slice of a size (bytes). It throws MEMORY_FULL if no memory is free.
 */
export function createReservation(hold: MemoryHold): (bytes: number) => void {
  let maxSlice = 0
  return (bytes) => {
    // One slice is sent while the next is read.
    if (bytes > maxSlice && !hold.take(2 * (bytes - maxSlice))) throw createMemoryFull()
    maxSlice = Math.max(maxSlice, bytes)
  }
}

/**
 * Sends a scan, slice by slice, as `sendPieces` does.
 * @throws MEMORY_FULL before the first slice; later the connection is cut
 */
export async function streamScan(
  scan: KvScan,
  format: keyof typeof formats,
  response: ServerResponse,
  { headers: hookHeaders, keysOnly = false, timeout, hold, begin }: ScanStreamOptions,
): Promise<void> {
  const { headers, open, render, renderKeys, end } = formats[format]
  const reserve = createReservation(hold)
  async function next(): Promise<string | Buffer | undefined> {
    const entries = await scan.next()
    if (entries.length === 0) return undefined
    // The text takes at least this memory. A slice without free memory is not rendered: otherwise many refused scans
    // would delay all other requests.
    reserve(entries.reduce((bytes, [, value]) => bytes + value.length, 0))
    const slice = keysOnly ? renderKeys(entries) : render(entries)
    reserve(slice.length)
    return slice
  }
  function sendHead(): void {
    begin()
    response.writeHead(200, [...hookHeaders, ...COMMON_HEADERS, ...headers])
    open(response)
  }
  try {
    if (response.req?.method === 'HEAD') {
      sendHead()
      response.end()
    } else await sendChunks(next, response, { begin: sendHead, timeout, end })
  } finally {
    await scan.close()
  }
}

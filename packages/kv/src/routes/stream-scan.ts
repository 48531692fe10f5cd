import type { MemoryHold } from '@influencer-stats/runtime/budget'
import { createMemoryFull } from '@influencer-stats/runtime/errors'
import { sendChunks } from '@influencer-stats/runtime/stream-reply'
import type { ServerResponse } from 'node:http'
import { LAST_CHUNK, toChunks, toKeyChunks } from '../lines/entry-chunks.ts'
import { toKeyLines, toEntryLines } from '../lines/entry-lines.ts'
import type { KvScan } from '../store/store.ts'

const COMMON_HEADERS = ['x-content-type-options', 'nosniff', 'cache-control', 'no-cache', 'vary', 'accept, user-agent']

/** Formats of ranges: see `RangeFormat`. */
const formats = {
  /** One line per entry. Node adds the chunked coding, with many lines per chunk. */
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
    /**
     * Called after the head, which announces the chunked coding. Node then sends the bytes unchanged: they already have
     * the chunked coding.
     */
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
  /** True if the reply has keys without values. */
  readonly keysOnly?: boolean
  /** Time that the client may take to receive 256 KiB of the reply (ms). */
  readonly timeout: number
  /** Reserves the memory of the slices. */
  readonly hold: MemoryHold
  /**
   * Called before the head is sent, once the first slice has been read. So an error of the first slice gets the usual
   * error reply.
   */
  readonly begin: () => void
}

/**
 * Creates a function that reserves memory for a slice of a size (bytes): twice the largest slice so far. The function
 * throws MEMORY_FULL if no memory is free.
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
 * Sends the entries of a scan, slice by slice.
 * @throws MEMORY_FULL if there is no memory for the first slice. If there is none for a later slice, the connection is
 * cut.
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
    // The rendered slice takes at least this memory. The reservation precedes the rendering: otherwise, if the memory
    // is full, the rendering for many refused scans would delay all other requests.
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

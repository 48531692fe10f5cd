import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import { commonErrors, createMemoryFull } from '../../errors/common-errors.ts'
import type { Problem } from '../../errors/problems.ts'
import { getHold, type Budget } from '../../memory/budget.ts'
import { isGzipContent } from './content-check.ts'

/** Size of a piece of decompressed content (bytes). */
const PIECE_BYTES = 65_536
/** Memory of a decompressor: its window and its pieces (bytes). */
const DECOMPRESSOR_BYTES = 196_608

export interface GunzipOptions {
  readonly budget: Budget
  /** Maximum size of the decompressed content (bytes). */
  readonly limit: number
  /** Problem for larger content. */
  readonly tooLarge: (detail: string) => Problem
}

/**
 * Returns the content of a request, decompressed if it is compressed by gzip. The caller reads or discards the rest of a
 * request whose content it does not read to the end.
 */
export const readContent = (message: IncomingMessage, options: GunzipOptions): AsyncIterable<Buffer> =>
  isGzipContent(message) ? gunzipContent(message, options) : message.iterator({ destroyOnReturn: false })

/**
 * Yields the decompressed content of a request as it arrives.
 * @throws Problem `BAD_GZIP`, `MEMORY_FULL` and `tooLarge`; another error if the client disconnects
 */
async function* gunzipContent(
  message: IncomingMessage,
  { budget, limit, tooLarge }: GunzipOptions,
): AsyncGenerator<Buffer> {
  if (!getHold(message, budget).take(DECOMPRESSOR_BYTES)) throw createMemoryFull()
  const decompressor = createGunzip({ chunkSize: PIECE_BYTES })
  const fail = (error?: Error) => decompressor.destroy(error ?? new Error('the request was aborted'))
  const onClose = () => message.complete || fail()
  message.on('error', fail).on('close', onClose).pipe(decompressor)
  let length = 0
  try {
    for await (const piece of decompressor) {
      length += piece.length
      if (length > limit) throw tooLarge(`at most ${limit} bytes; received more`)
      yield piece
    }
    // Zeros may follow the compressed content.
    message.resume()
  } catch (error) {
    const { code, message: reason } = error as NodeJS.ErrnoException
    throw code?.startsWith('Z_') ? commonErrors.BAD_GZIP(`body must be valid gzip; received ${reason}`) : error
  } finally {
    message.off('error', fail).off('close', onClose).unpipe(decompressor)
    decompressor.destroy()
  }
}

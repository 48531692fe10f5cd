import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** The reader closed the output, as `head` does after its last line. */
export class OutputClosed extends Error {}

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/** Writes pieces at the speed of the reader. @throws OutputClosed */
export async function writePieces(pieces: Pieces, output: Writable): Promise<void> {
  const closed = new Promise<never>((_, reject) => {
    output.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'EPIPE' ? new OutputClosed() : error))
  })
  const isStandard = output === process.stdout
  await Promise.race([pipeline(pieces, output, { end: !isStandard }), closed])
}

/** Writes pieces to standard output. @throws OutputClosed */
export const writeOut = (pieces: Pieces): Promise<void> => writePieces(pieces, process.stdout)

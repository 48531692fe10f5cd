import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** The reader closed the output, as `head` does after its last line. */
export class OutputClosedError extends Error {}

type OutputChunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/** Writes chunks to a stream, at the speed of its reader. @throws OutputClosedError */
export async function writeChunks(chunks: OutputChunks, output: Writable): Promise<void> {
  const closed = new Promise<never>((_, reject) => {
    output.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EPIPE' ? new OutputClosedError() : error),
    )
  })
  const isStandard = output === process.stdout
  await Promise.race([pipeline(chunks, output, { end: !isStandard }), closed])
}

/** Writes chunks to standard output. @throws OutputClosedError */
export const writeOut = (chunks: OutputChunks): Promise<void> => writeChunks(chunks, process.stdout)

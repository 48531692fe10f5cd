const NEWLINE = 0x0a

/** The lines of bytes that come in pieces, without their newlines; the last one need not have one. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Joined only when the line ends: a long one would be copied again with every piece.
  let partial: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const part = chunk.subarray(from, end)
      yield partial.length === 0 ? part : Buffer.concat([...partial, part])
      partial = []
      from = end + 1
    }
    if (from < chunk.length) partial.push(chunk.subarray(from))
  }
  if (partial.length > 0) yield Buffer.concat(partial)
}

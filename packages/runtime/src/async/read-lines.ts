const NEWLINE = 0x0a

/** Yields the lines of a stream of bytes, without newlines. The last line needs no newline. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // The parts of a line are joined only at its end: otherwise each chunk would copy a long line again.
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

const NEWLINE = 0x0a

/** The lines of bytes that come in pieces, without their newlines; the last one need not have one. */
export async function* eachLine(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Joined only when the line ends: a long one would be copied again with every piece.
  let begun: Buffer[] = []
  for await (const piece of pieces) {
    let from = 0
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      const part = piece.subarray(from, end)
      yield begun.length === 0 ? part : Buffer.concat([...begun, part])
      begun = []
      from = end + 1
    }
    if (from < piece.length) begun.push(piece.subarray(from))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}

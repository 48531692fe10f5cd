/** Reads a reply as JSON. */
export const readJson = <T>(reply: Response) => reply.json() as Promise<T>

/**
 * Yields the bytes of a reply as they arrive. A caller that stops early cancels the reply.
 * @param onRead called before each read
 */
export async function* readChunks({ body }: Response, onRead: () => void): AsyncGenerator<Uint8Array, void, undefined> {
  onRead()
  // Not every browser can iterate over streams.
  const reader = body?.getReader()
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader!.read()) {
      yield read.value
      onRead()
    }
  } finally {
    // After an abort the reader rejects with its reason, which the caller has already received.
    await reader?.cancel().catch(() => {})
  }
}

/** Yields the lines of a reply as they arrive, without line ends: `\n`, `\r\n` or `\r`. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest: string[] = []
  let endsWithCr = false
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true })
    // The second half of a line end, whose first half was the end of the last chunk.
    if (endsWithCr && text.startsWith('\n')) text = text.slice(1)
    else if (text === '') continue
    endsWithCr = text.endsWith('\r')
    const lines = text.split(/\r\n|\r|\n/)
    // A long line arrives in many chunks: they are joined once.
    rest.push(lines[0]!)
    if (lines.length === 1) continue
    lines[0] = rest.join('')
    rest = [lines.pop()!]
    yield* lines
  }
  const last = rest.join('')
  if (last !== '') yield last
}

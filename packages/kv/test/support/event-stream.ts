import { onTestFinished } from 'vitest'

/** Reads a stream as a plain client of server-sent events. */
export async function openEventStream(url: string, headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const reply = await fetch(url, { headers, signal: leaving.signal })
  let text = ''
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const piece of reply.body as unknown as AsyncIterable<Uint8Array>)
      text += decoder.decode(piece, { stream: true })
  })().catch(() => {})
  return {
    reply,
    ended,
    text: () => text,
    /** Last received id. */
    sequence: () =>
      Number(
        text
          .match(/^id: (\d+)$/gm)
          ?.at(-1)
          ?.slice(4),
      ),
    leave: () => leaving.abort(),
  }
}

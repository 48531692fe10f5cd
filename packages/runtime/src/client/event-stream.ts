import { createParser } from 'eventsource-parser'

// Browsers load this file, too: it imports no module of Node.

/** An event, or a block of an event stream without `data`: a comment has no field at all. */
export interface StreamItem {
  readonly id?: string | undefined
  readonly event?: string | undefined
  readonly data?: string
  /** Time after which the client should reconnect (ms). */
  readonly retry?: number
}

/** Yields the events of an event stream, and its ids, comments and `retry` fields without an event. */
export async function* readEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamItem, void> {
  let items: StreamItem[] = []
  const parser = createParser({
    onId: (id) => items.push({ id }),
    onEvent(event) {
      // The parser has reported its id already.
      if (event.id !== undefined) items.pop()
      items.push(event)
    },
    onRetry: (retry) => items.push({ retry }),
    onComment: () => items.push({}),
  })
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* items
    items = []
  }
}

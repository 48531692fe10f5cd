import { connect, type Socket } from 'node:net'
import { EventSourceReader, type ReceivedEvent } from './event-source-reader.ts'
import { ChunkReader } from '@influencer-stats/runtime/testing/chunk-reader'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

/** An open stream and the data that it has received. */
export interface TestStream {
  readonly socket: Socket
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly reader: EventSourceReader
  readonly events: readonly ReceivedEvent[]
  /** The values of `message` events. */
  readonly values: readonly string[]
  /** The chunks of the reply; undefined if it has none. */
  readonly chunks: ChunkReader | undefined
  /** Everything after the head, without the framing of chunks. */
  readonly body: string
  readonly ended: boolean
  /** Waits for a total number of events. */
  until(count: number): Promise<readonly ReceivedEvent[]>
  readonly closed: Promise<void>
}

export interface TestStreamOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
  /** Texts to send with a pause between them, instead of the request. */
  readonly pieces?: readonly string[]
}

/** Formats a plain request for a stream. */
export function createWaitText(
  port: number,
  query = '',
  headers: Readonly<Record<string, string>> = {},
  path = '/wait',
): string {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `GET ${path}${query} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Headers of a browser's EventSource, which gets an empty line after the position of its stream. */
export const EVENT_SOURCE_HEADERS = { 'sec-fetch-mode': 'cors', 'cache-control': 'no-cache' }

/** A spelling of the path that every server adapter passes to Fastify. */
export const VIA_FASTIFY = { path: '/%77ait' }

/** Opens a stream. Resolves once its head has arrived. */
export async function openStream(port: number, query = '', options: TestStreamOptions = {}): Promise<TestStream> {
  const socket = connect(port, '127.0.0.1')
  const reader = new EventSourceReader()
  const decoder = new TextDecoder()
  let input = Buffer.alloc(0)
  let head: { status: number; headers: Record<string, string> } | undefined
  let chunks: ChunkReader | undefined
  let body = ''
  let ended = false

  function onBytes(bytes: Buffer): void {
    const text = decoder.decode(chunks ? chunks.feed(bytes) : bytes, { stream: true })
    body += text
    reader.feed(text)
  }

  socket.on('data', (chunk) => {
    input = Buffer.concat([input, chunk])
    if (!head) {
      const end = input.indexOf('\r\n\r\n')
      if (end < 0) return
      const [first = '', ...lines] = input.toString('latin1', 0, end).split('\r\n')
      const fields = lines.map((line) => [
        line.split(':', 1)[0]!.toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ])
      head = { status: Number(first.split(' ')[1]), headers: Object.fromEntries(fields) }
      if (head.headers['transfer-encoding'] === 'chunked') chunks = new ChunkReader()
      input = input.subarray(end + 4)
    }
    onBytes(input)
    input = Buffer.alloc(0)
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      ended = true
      resolve()
    })
  })
  for (const piece of options.pieces ?? [createWaitText(port, query, options.headers, options.path)]) {
    socket.write(piece, 'latin1')
    if (options.pieces) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await waitUntil(() => head || ended)
  if (!head) throw new Error('the connection ended without a reply')
  const { status, headers } = head

  return {
    socket,
    status,
    headers,
    reader,
    events: reader.events,
    chunks,
    get values() {
      return reader.events.filter(({ type }) => type === 'message').map(({ data }) => data)
    },
    get body() {
      return body
    },
    get ended() {
      return ended
    },
    async until(count) {
      await waitUntil(() => reader.events.length >= count || ended)
      if (reader.events.length < count) throw new Error(`the stream ended after ${reader.events.length} events`)
      return reader.events
    },
    closed,
  }
}

import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Reply of a pipeline. */
export interface PipelineReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface ParsedReply {
  readonly reply: PipelineReply
  readonly end: number
}

function parseChunks(text: string, from: number): { body: string; end: number } | undefined {
  let body = ''
  for (let at = from; ;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (text.length < end) return undefined
    if (size === 0) return { body, end }
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = end
  }
}

/** Parses the reply to a request of this method that begins at `from`; undefined if it is not complete. */
function parseReply(text: string, from: number, method: string): ParsedReply | undefined {
  const headEnd = text.indexOf('\r\n\r\n', from)
  if (headEnd < 0) return undefined
  const [first = '', ...lines] = text.slice(from, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const status = Number(first.split(' ')[1])
  const bodyAt = headEnd + 4
  if (method === 'HEAD' || status === 304 || status < 200) return { reply: { status, headers, body: '' }, end: bodyAt }
  if (headers['transfer-encoding'] === 'chunked') {
    const chunks = parseChunks(text, bodyAt)
    return chunks && { reply: { status, headers, body: chunks.body }, end: chunks.end }
  }
  const end = bodyAt + Number(headers['content-length'] ?? 0)
  return text.length < end ? undefined : { reply: { status, headers, body: text.slice(bodyAt, end) }, end }
}

/**
 * Sends requests on one connection without waiting for replies. The text is cut at `cuts` (0 to 1, of its length).
 * @returns the final replies in order; fewer than requests if the server ends the connection
 */
export async function sendPipelined(
  url: string,
  texts: readonly string[],
  cuts: readonly number[] = [],
): Promise<PipelineReply[]> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true }).setEncoding('latin1')
  let received = ''
  socket.on('data', (part) => (received += part)).on('error', () => {})
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  const text = texts.join('')
  const cutPoints = [...cuts.map((cut) => Math.floor(cut * text.length)), text.length].sort((a, b) => a - b)
  for (let i = 0, from = 0; i < cutPoints.length; from = cutPoints[i++]!) {
    socket.write(text.slice(from, cutPoints[i]), 'latin1')
    await nextTurn()
  }
  const replies: PipelineReply[] = []
  for (let at = 0; replies.length < texts.length;) {
    const method = texts[replies.length]!.split(' ', 1)[0]!
    const parsed = parseReply(received, at, method)
    if (parsed) {
      at = parsed.end
      if (parsed.reply.status >= 200) replies.push(parsed.reply)
    } else if (socket.closed) break
    else await Promise.race([once(socket, 'data'), closed])
  }
  socket.destroy()
  return replies
}

import { connect } from 'node:net'
import { ReplyScanner } from '../raw/reply-scanner.ts'

export interface LoadReply {
  readonly status: number
  /** Empty unless bodies are kept. */
  readonly body: Buffer
  readonly bodyBytes: number
  /** Whether the server ends the connection after it. */
  readonly closes: boolean
  /** When the last of it came (ms). */
  readonly at: number
}

export interface LoadConnectionOptions {
  /** Whether replies have their bodies. */
  readonly buffersBodies?: boolean
  /** How long (ms) the server may be silent before its first reply. */
  readonly firstReplyTimeoutMs?: number
}

/** A kept-alive connection that carries one request at a time. */
export type LoadConnection = ReturnType<typeof createConnection>

export function createConnection(
  url: URL,
  { buffersBodies = true, firstReplyTimeoutMs = 0 }: LoadConnectionOptions = {},
) {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true, timeout: firstReplyTimeoutMs })
  const scanner = new ReplyScanner(buffersBodies)
  let pendingReply: PromiseWithResolvers<LoadReply> | undefined
  socket.on('data', (data) => {
    const state = scanner.feed(data)
    if (state === 'more') return
    socket.setTimeout(0)
    if (state === 'broken' || scanner.left > 0) return void socket.destroy()
    const { status, body, bodyBytes, closes } = scanner
    pendingReply?.resolve({ status, body: Buffer.from(body), bodyBytes, closes, at: performance.now() })
  })
  socket.on('timeout', () => socket.destroy())
  // 'close' follows every error and is where all ends are dealt with.
  socket.on('error', () => {})
  socket.on('close', () => pendingReply?.reject(new Error('the reply was cut')))
  return {
    /** @throws Error when the connection was refused or cut, or the reply is no HTTP/1.1 */
    request(bytes: Buffer): Promise<LoadReply> {
      pendingReply = Promise.withResolvers()
      scanner.begin(false)
      if (socket.destroyed) pendingReply.reject(new Error('the reply was cut'))
      else socket.write(bytes)
      return pendingReply.promise
    },
    get isOpen() {
      return socket.readyState === 'open'
    },
    close: () => void socket.destroy(),
  }
}

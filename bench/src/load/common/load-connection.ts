import { connect } from 'node:net'
import { ReplyScanner } from '../raw/reply-scanner.ts'

/** A reply to a request of a `LoadConnection`. */
export interface LoadReply {
  readonly status: number
  /** The body; empty unless `buffersBodies` is true. */
  readonly body: Buffer
  /** Length of the body, in either case. */
  readonly bodyBytes: number
  /** True if the server ends the connection after this reply. */
  readonly closes: boolean
  /** Time at which the last byte arrived (ms). */
  readonly at: number
}

export interface LoadConnectionOptions {
  /** False to count the bytes of bodies only. */
  readonly buffersBodies?: boolean
  /** Timeout of the first reply (ms); 0 for none. */
  readonly firstReplyTimeoutMs?: number
}

/** A keep-alive connection with at most one open request. */
export type LoadConnection = ReturnType<typeof createConnection>

/** Opens a connection to a server. */
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
  // 'close' follows every error, and handles every end of the connection.
  socket.on('error', () => {})
  socket.on('close', () => pendingReply?.reject(new Error('the reply was cut')))
  return {
    /** Sends a request. @throws Error if the connection was refused or cut, or if the reply is not HTTP/1.1 */
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

import { connect } from 'node:net'
import { ReplyScanner } from '../raw/reply-scanner.ts'

export interface Reply {
  readonly status: number
  /** Empty unless bodies are kept. */
  readonly body: Buffer
  readonly bodyBytes: number
  /** Whether the server ends the connection after it. */
  readonly closes: boolean
  /** When the last of it came (ms). */
  readonly at: number
}

export interface ConnectionOptions {
  /** Whether replies have their bodies. */
  readonly keepsBodies?: boolean
  /** How long (ms) the server may be silent before its first reply. */
  readonly patience?: number
}

/** A kept-alive connection that carries one request at a time. */
export type Connection = ReturnType<typeof createConnection>

export function createConnection(url: URL, { keepsBodies = true, patience = 0 }: ConnectionOptions = {}) {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true, timeout: patience })
  const scanner = new ReplyScanner(keepsBodies)
  let waiting: PromiseWithResolvers<Reply> | undefined
  socket.on('data', (data) => {
    const state = scanner.feed(data)
    if (state === 'more') return
    socket.setTimeout(0)
    if (state === 'broken' || scanner.left > 0) return void socket.destroy()
    const { status, body, bodyBytes, closes } = scanner
    waiting?.resolve({ status, body: Buffer.from(body), bodyBytes, closes, at: performance.now() })
  })
  socket.on('timeout', () => socket.destroy())
  // 'close' follows every error and is where all ends are dealt with.
  socket.on('error', () => {})
  socket.on('close', () => waiting?.reject(new Error('the reply was cut')))
  return {
    /** @throws Error when the connection was refused or cut, or the reply is no HTTP/1.1 */
    ask(bytes: Buffer): Promise<Reply> {
      waiting = Promise.withResolvers()
      scanner.begin(false)
      if (socket.destroyed) waiting.reject(new Error('the reply was cut'))
      else socket.write(bytes)
      return waiting.promise
    },
    get isOpen() {
      return socket.readyState === 'open'
    },
    close: () => void socket.destroy(),
  }
}

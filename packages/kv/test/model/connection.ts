import { connect, type Socket } from 'node:net'
import { ReplyParser, type ReplyHead } from './http-parser.ts'

export interface HttpRequest {
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** True if the body uses the chunked transfer coding. */
  readonly isChunked?: boolean
}

/** Reply with its times (ms since 1970). The server executed the request between `sentAt` and `receivedAt`. */
export interface HttpReply extends ReplyHead {
  readonly pieces: readonly Buffer[]
  readonly body: Buffer
  readonly sentAt: number
  readonly receivedAt: number
}

/** Error for a connection that the server closed before it replied. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

interface PendingReply {
  readonly method: string
  readonly sentAt: number
  resolve(reply: HttpReply): void
  reject(error: Error): void
}

const BODILESS_METHODS = new Set([204, 304])

/** HTTP/1.1 connection without any library. Requests can be pipelined: replies arrive in request order. */
export class ModelConnection {
  readonly #socket: Socket
  readonly #pending: PendingReply[] = []
  #head: ReplyHead | undefined
  #pieces: Buffer[] = []
  #isClosed = false

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const parser = new ReplyParser(
      ({ status }) => this.#pending[0]?.method !== 'HEAD' && !BODILESS_METHODS.has(status),
      {
        onHead: (head) => (this.#head = head),
        onPiece: (piece) => void this.#pieces.push(piece),
        onEnd: () => this.#finish(),
      },
    )
    this.#socket.on('data', (bytes) => {
      try {
        parser.push(bytes)
      } catch (error) {
        this.#close(error as Error)
      }
    })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => this.#close(new ConnectionLost(`connection to port ${port} closed`)))
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** @throws ConnectionLost; Error for a reply that is not HTTP */
  send(request: HttpRequest): Promise<HttpReply> {
    return this.sendAll([request])[0]!
  }

  /** Sends requests in one write. @throws as `send` */
  sendAll(requests: readonly HttpRequest[]): Promise<HttpReply>[] {
    const sentAt = Date.now()
    const replies = requests.map(
      ({ method }) =>
        new Promise<HttpReply>((resolve, reject) => {
          if (this.#isClosed) reject(new ConnectionLost('the connection is closed'))
          else this.#pending.push({ method, sentAt, resolve, reject })
        }),
    )
    if (!this.#isClosed) this.#socket.write(Buffer.concat(requests.map(toBytes)))
    return replies
  }

  close(): void {
    this.#socket.destroy()
  }

  #finish(): void {
    const pending = this.#pending.shift()
    if (!pending) throw new Error('a reply without a request')
    const pieces = this.#pieces
    this.#pieces = []
    const { method: _, resolve, reject: __, ...times } = pending
    resolve({ ...this.#head!, pieces, body: Buffer.concat(pieces), ...times, receivedAt: Date.now() })
  }

  #close(error: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.destroy()
    for (const { reject } of this.#pending.splice(0)) reject(error)
  }
}

function toBytes({ method, target, headers = {}, body, isChunked }: HttpRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, 'host: 127.0.0.1']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body && !isChunked) lines.push(`content-length: ${body.length}`)
  if (isChunked) lines.push('transfer-encoding: chunked')
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (!body) return head
  if (!isChunked) return Buffer.concat([head, body])
  const size = body.length === 0 ? [] : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]
  return Buffer.concat([head, ...size, Buffer.from('0\r\n\r\n')])
}

import { connect, type Socket } from 'node:net'
import { Difference } from './difference.ts'
import { ReplyParser } from './http-parser.ts'
import type { Random } from './random.ts'

/** A change as a stream showed it. */
export interface WatchedChange {
  readonly op: 'put' | 'delete' | 'expire'
  readonly key: string
  readonly value?: Buffer
  readonly expiresAt?: number
  /** Changes with one sequence took effect together. */
  readonly sequence: number
  readonly receivedAt: number
}

interface Line {
  readonly op: 'put' | 'delete' | 'expire'
  readonly id: string
  readonly value?: string
  readonly valueBase64?: string
  readonly expiresAt?: number | null
}

function valueOf({ op, value, valueBase64 }: Line): Buffer | undefined {
  if (op !== 'put') return undefined
  if ((value === undefined) === (valueBase64 === undefined)) throw new Difference('a put with none or two values')
  return value === undefined ? Buffer.from(valueBase64!, 'base64') : Buffer.from(value)
}

/** All changes of a service as server-sent events, over connections that are dropped now and then. */
export class WatchStream {
  readonly #port: number
  readonly #random: Random
  readonly #dropPercent: number
  readonly changes: WatchedChange[] = []
  /** Why it ended for good. */
  fault: Error | undefined
  drops = 0
  #socket: Socket | undefined
  #lastId: string | undefined
  #text = ''
  #data: { readonly event: string; readonly data: string }[] = []
  #event = ''
  #isClosed = false
  readonly #opened = Promise.withResolvers<void>()
  #waiting: { readonly isMet: () => boolean; resolve(): void; reject(error: Error): void }[] = []

  /** @param dropPercent in so many of 100 cases a piece of the stream is the last one of its connection */
  constructor(port: number, random: Random, dropPercent: number) {
    this.#port = port
    this.#random = random
    this.#dropPercent = dropPercent
    this.#open()
  }

  /** Resolves once it shows what comes next. @throws Difference */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** Where it can be resumed. */
  get lastId(): string | undefined {
    return this.#lastId
  }

  /** Resolves once a change was shown for which this holds. @throws Difference if the stream ends before */
  until(isMet: () => boolean): Promise<void> {
    if (this.fault) return Promise.reject(this.fault)
    if (isMet()) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiting.push({ isMet, resolve, reject }))
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.destroy()
  }

  #open(): void {
    this.#text = this.#event = ''
    // What is not whole comes again.
    this.#data = []
    const socket = connect({ port: this.#port, host: '127.0.0.1' })
    this.#socket = socket
    const parser = new ReplyParser(() => true, {
      onHead: ({ status }) => {
        if (status !== 200)
          throw new Difference(`the stream of changes after ${this.#lastId} is refused with ${status}`)
      },
      onPiece: (piece) => this.#push(piece),
      onEnd: () => {},
    })
    const usesQuery = this.#random.percent(50)
    const after = usesQuery && this.#lastId !== undefined ? `&after=${this.#lastId}` : ''
    const header = !usesQuery && this.#lastId !== undefined ? `last-event-id: ${this.#lastId}\r\n` : ''
    socket.write(`GET /v0/watch?start=%00${after} HTTP/1.1\r\nhost: 127.0.0.1\r\n${header}\r\n`)
    socket.on('data', (bytes) => {
      if (socket !== this.#socket) return
      try {
        parser.push(bytes)
      } catch (error) {
        this.#fail(error as Error)
      }
      if (this.#lastId !== undefined && this.#random.percent(this.#dropPercent)) this.#drop()
    })
    socket.on('error', () => {})
    // One that the server ended is resumed as well: it is refused where the service is no longer there.
    socket.on('close', () => {
      if (socket === this.#socket && !this.#isClosed) this.#fail(new Error('the server closed the stream of changes'))
    })
  }

  #drop(): void {
    if (this.#isClosed) return
    this.drops++
    const socket = this.#socket
    this.#open()
    socket?.destroy()
  }

  #fail(error: Error): void {
    this.fault ??= error
    this.close()
    this.#opened.promise.catch(() => {})
    this.#opened.reject(error)
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }

  #push(piece: Buffer): void {
    // Split at bytes of line ends only: a character may be cut between two pieces.
    this.#text += piece.toString('latin1')
    for (let end = this.#text.indexOf('\n'); end >= 0; end = this.#text.indexOf('\n')) {
      const line = Buffer.from(this.#text.slice(0, end), 'latin1').toString()
      this.#text = this.#text.slice(end + 1)
      this.#line(line)
    }
    this.#waiting = this.#waiting.filter(({ isMet, resolve }) => {
      if (!isMet()) return true
      resolve()
      return false
    })
  }

  #pendingId: string | undefined

  #line(line: string): void {
    if (line.startsWith('event: ')) this.#event = line.slice(7)
    else if (line.startsWith('data: ')) this.#data.push({ event: this.#event, data: line.slice(6) })
    else if (line.startsWith('id: ')) this.#pendingId = line.slice(4)
    else if (line === '' && this.#pendingId !== undefined) this.#dispatch(this.#pendingId)
    else if (line !== '' && !line.startsWith('retry: ') && !line.startsWith(':'))
      throw new Difference(`not a line of a stream of changes: ${line.slice(0, 200)}`)
  }

  #dispatch(id: string): void {
    this.#pendingId = undefined
    const sequence = Number(id)
    const receivedAt = Date.now()
    if (this.#lastId !== undefined && sequence < Number(this.#lastId))
      throw new Difference(`id ${id} after ${this.#lastId}: ids of a stream grow`)
    for (const { event, data } of this.#data.splice(0)) {
      const line = JSON.parse(data) as Line
      if (line.op !== event) throw new Difference(`an event ${event} with ${data.slice(0, 200)}`)
      const { op, id: key, expiresAt } = line
      const value = valueOf(line)
      this.changes.push({
        op,
        key,
        ...(value && { value }),
        ...(expiresAt !== undefined && expiresAt !== null && { expiresAt }),
        sequence,
        receivedAt,
      })
    }
    this.#lastId = id
    this.#opened.resolve()
  }
}

import { connect, type Socket } from 'node:net'
import { Difference } from './difference.ts'
import { ReplyParser } from './http-parser.ts'
import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { WatchEvents, type WatchedChange } from './watch-events.ts'

/** Stream of all changes of a service as server-sent events. Its connections are dropped at random. */
export class WatchStream {
  readonly #port: number
  readonly #random: SeededRandom
  readonly #dropPercent: number
  readonly changes: WatchedChange[] = []
  /** Reason for the final end of the stream. */
  fault: Error | undefined
  drops = 0
  #socket: Socket | undefined
  #lastId: string | undefined
  #isClosed = false
  readonly #opened = Promise.withResolvers<void>()
  #waiters: { readonly isMet: () => boolean; resolve(): void; reject(error: Error): void }[] = []

  /** @param dropPercent share of cases in which a piece of the stream is the last one of its connection (%) */
  constructor(port: number, random: SeededRandom, dropPercent: number) {
    this.#port = port
    this.#random = random
    this.#dropPercent = dropPercent
    this.#open()
  }

  /** Resolves once the stream shows all later changes. @throws Difference */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** Event id after which the stream can resume. */
  get lastId(): string | undefined {
    return this.#lastId
  }

  /** Resolves once the shown changes meet a condition. @throws Difference if the stream ends before */
  waitUntil(isMet: () => boolean): Promise<void> {
    if (this.fault) return Promise.reject(this.fault)
    if (isMet()) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiters.push({ isMet, resolve, reject }))
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.destroy()
  }

  #open(): void {
    // A new parser discards an incomplete event: the server sends it again.
    const events = new WatchEvents((id, changes) => this.#add(id, changes))
    const socket = connect({ port: this.#port, host: '127.0.0.1' })
    this.#socket = socket
    const parser = new ReplyParser(() => true, {
      onHead: ({ status }) => {
        if (status !== 200)
          throw new Difference(`the stream of changes after ${this.#lastId} is refused with ${status}`)
      },
      onPiece: (piece) => events.push(piece),
      onEnd: () => {},
    })
    const usesQuery = this.#random.percent(50)
    const after = usesQuery && this.#lastId !== undefined ? `&after=${this.#lastId}` : ''
    const header = !usesQuery && this.#lastId !== undefined ? `last-event-id: ${this.#lastId}\r\n` : ''
    socket.write(`GET /v0/watch?start=%00&progress=true${after} HTTP/1.1\r\nhost: 127.0.0.1\r\n${header}\r\n`)
    socket.on('data', (bytes) => {
      if (socket !== this.#socket) return
      try {
        parser.push(bytes)
      } catch (error) {
        this.#failWaiters(error as Error)
      }
      if (this.#lastId !== undefined && this.#random.percent(this.#dropPercent)) this.#dropConnection()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      if (socket === this.#socket && !this.#isClosed)
        this.#failWaiters(new Error('the server closed the stream of changes'))
    })
  }

  #dropConnection(): void {
    if (this.#isClosed) return
    this.drops++
    const socket = this.#socket
    this.#open()
    socket?.destroy()
  }

  #failWaiters(error: Error): void {
    this.fault ??= error
    this.close()
    this.#opened.promise.catch(() => {})
    this.#opened.reject(error)
    for (const { reject } of this.#waiters.splice(0)) reject(error)
  }

  #add(id: string, changes: readonly WatchedChange[]): void {
    if (this.#lastId !== undefined && Number(id) < Number(this.#lastId))
      throw new Difference(`id ${id} after ${this.#lastId}: ids of a stream grow`)
    this.changes.push(...changes)
    this.#lastId = id
    this.#opened.resolve()
    this.#waiters = this.#waiters.filter(({ isMet, resolve }) => {
      if (!isMet()) return true
      resolve()
      return false
    })
  }
}

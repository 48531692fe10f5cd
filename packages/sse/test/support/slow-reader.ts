import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { ChunkReader } from '@influencer-stats/runtime/testing/chunk-reader'
import { EventEmitter } from 'node:events'
import { EventSourceReader } from './event-source-reader.ts'

const HIGH_WATER_MARK = 65_536

/** A connection whose client reads only when `take` is called. */
export class SlowReader extends EventEmitter implements StreamConnection {
  readonly reader = new EventSourceReader()
  /** Largest number of bytes that were unread at once. */
  maxUnreadBytes = 0
  isEnded = false
  isDestroyed = false
  #unread: Buffer[] = []
  #needsDrain = false
  readonly chunks = new ChunkReader()
  readonly #decoder = new TextDecoder()

  get writableLength(): number {
    return this.#unread.reduce((sum, { length }) => sum + length, 0)
  }

  get values(): string[] {
    return this.reader.events.filter(({ type }) => type === 'message').map(({ data }) => data)
  }

  write(chunk: Buffer | string): boolean {
    // A destroyed socket discards writes.
    if (this.isDestroyed) return false
    if (this.isEnded) throw new Error('written to after its end')
    this.#unread.push(Buffer.from(chunk))
    const length = this.writableLength
    this.maxUnreadBytes = Math.max(this.maxUnreadBytes, length)
    this.#needsDrain ||= length >= HIGH_WATER_MARK
    return length < HIGH_WATER_MARK
  }

  /** Reads all unread bytes. */
  take(): void {
    this.reader.feed(this.#decoder.decode(this.chunks.feed(Buffer.concat(this.#unread)), { stream: true }))
    this.#unread = []
    if (!this.#needsDrain) return
    this.#needsDrain = false
    this.emit('drain')
  }

  end(): void {
    this.isEnded = true
  }

  destroy(): void {
    this.isDestroyed = true
    this.emit('close')
  }
}

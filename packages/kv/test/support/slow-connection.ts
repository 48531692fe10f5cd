import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { EventEmitter } from 'node:events'

/** The connection of a stream whose client reads when the test says so; until then everything that is written is unread. */
export class SlowConnection extends EventEmitter implements StreamConnection {
  /** Not read yet. */
  unread: Buffer[] = []
  /** What its client has read. */
  readonly received: Buffer[] = []
  isCut = false
  isReading: boolean

  constructor({ isReading = false } = {}) {
    super()
    this.isReading = isReading
  }

  get writableLength(): number {
    return this.unread.reduce((sum, { length }) => sum + length, 0)
  }

  write(chunk: Buffer | string): boolean {
    // As a socket that is destroyed.
    if (this.isCut) return false
    this.unread.push(toBuffer(chunk))
    if (this.isReading) this.read()
    return this.unread.length === 0
  }

  /** Its client reads everything, or so many of the chunks. */
  read(count = this.unread.length): void {
    this.received.push(...this.unread.splice(0, count))
    if (this.unread.length === 0) setImmediate(() => this.emit('drain'))
  }

  end(): void {
    this.destroy()
  }

  destroySoon(): void {
    this.destroy()
  }

  destroy(): void {
    if (this.isCut) return
    this.isCut = true
    setImmediate(() => this.emit('close'))
  }
}

const toBuffer = (chunk: Buffer | string) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)

/** The memory of what no client has read: what several connections share counts once. */
export const sharedBytes = (connections: readonly SlowConnection[]): number => {
  const memory = new Set(connections.flatMap(({ unread, isCut }) => (isCut ? [] : unread.map(({ buffer }) => buffer))))
  return [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

import type { StreamConnection } from '../../src/http/hot-route.ts'
import { EventEmitter } from 'node:events'

/** Connection of a stream whose client reads on request of the test. Until then, all written data is unread. */
export class SlowConnection extends EventEmitter implements StreamConnection {
  /** Chunks that the client has not read yet. */
  unread: Buffer[] = []
  /** Chunks that the client has read. */
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
    // A destroyed socket returns false, too.
    if (this.isCut) return false
    this.unread.push(toBuffer(chunk))
    if (this.isReading) this.read()
    return this.unread.length === 0
  }

  /** Reads all unread chunks, or the first `count` of them. */
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

/** Memory of unread data (bytes). Memory that several connections share counts once. */
export const sharedBytes = (connections: readonly SlowConnection[]): number => {
  const memory = new Set(connections.flatMap(({ unread, isCut }) => (isCut ? [] : unread.map(({ buffer }) => buffer))))
  return [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

import { createHash } from 'node:crypto'
import type { LogEntry, LogPosition, StateMachine } from '../../src/log.ts'

/** Kinds of the entries of `TextStateMachine`. */
export const APPEND_KIND = 1
/** Body `from>to`: sets the register to `to` if it is `from`. */
export const SWAP_KIND = 2

/** Minimal state machine: a list of texts in the order of the log, and one register. */
export class TextStateMachine implements StateMachine {
  texts: string[] = []
  register = ''
  seqs: number[] = []
  times: number[] = []
  savedPosition: LogPosition | undefined
  /** Number of calls of `apply` that fail. */
  failureCount = 0
  callCount = 0

  getPosition(): LogPosition | undefined {
    return this.savedPosition
  }

  async apply(entries: readonly LogEntry[], position: LogPosition): Promise<unknown[]> {
    this.callCount++
    if (this.failureCount > 0) {
      this.failureCount--
      throw new Error('the disk is full')
    }
    const outcomes = entries.map((entry) => this.#applyEntry(entry))
    this.savedPosition = structuredClone(position)
    return outcomes
  }

  #applyEntry({ kind, body, seq, at }: LogEntry): unknown {
    this.seqs.push(seq)
    this.times.push(at)
    const text = body.toString()
    if (kind === APPEND_KIND) return this.texts.push(text)
    const [from, to] = text.split('>')
    if (this.register !== from) return false
    this.register = to!
    return true
  }

  toDigest(): string {
    return createHash('sha256')
      .update(JSON.stringify([this.texts, this.register]))
      .digest('hex')
  }

  async *snapshot(): AsyncGenerator<Buffer> {
    const { texts, register, savedPosition } = this
    yield Buffer.from(JSON.stringify({ texts, register, savedPosition }))
  }

  async restore(chunks: AsyncIterable<Buffer>): Promise<void> {
    const received: Buffer[] = []
    for await (const chunk of chunks) received.push(chunk)
    Object.assign(this, JSON.parse(Buffer.concat(received).toString()))
  }
}

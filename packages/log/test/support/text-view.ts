import { createHash } from 'node:crypto'
import type { Entry, Position, View } from '../../src/log.ts'

/** Kinds of the entries of `TextView`. */
export const APPEND = 1
/** `from>to`: puts `to` where the text is `from`. */
export const SWAP = 2

/** A view as simple as can be: a list of texts in the order of the log, and one register. */
export class TextView implements View {
  texts: string[] = []
  register = ''
  seqs: number[] = []
  times: number[] = []
  kept: Position | undefined
  /** Fails so many times. */
  failures = 0
  calls = 0

  position(): Position | undefined {
    return this.kept
  }

  async apply(entries: readonly Entry[], position: Position): Promise<unknown[]> {
    this.calls++
    if (this.failures > 0) {
      this.failures--
      throw new Error('the disk is full')
    }
    const outcomes = entries.map((entry) => this.#one(entry))
    this.kept = structuredClone(position)
    return outcomes
  }

  #one({ kind, body, seq, at }: Entry): unknown {
    this.seqs.push(seq)
    this.times.push(at)
    const text = body.toString()
    if (kind === APPEND) return this.texts.push(text)
    const [from, to] = text.split('>')
    if (this.register !== from) return false
    this.register = to!
    return true
  }

  digest(): string {
    return createHash('sha256')
      .update(JSON.stringify([this.texts, this.register]))
      .digest('hex')
  }

  async *snapshot(): AsyncGenerator<Buffer> {
    const { texts, register, kept } = this
    yield Buffer.from(JSON.stringify({ texts, register, kept }))
  }

  async restore(pieces: AsyncIterable<Buffer>): Promise<void> {
    const all: Buffer[] = []
    for await (const piece of pieces) all.push(piece)
    Object.assign(this, JSON.parse(Buffer.concat(all).toString()))
  }
}

import { Piece } from '@influencer-stats/runtime/piece-list'
import { toIdLine } from '../core/watch-events.ts'

/** A change as an event. `last` has the id, for the last change that a stream gets of a sequence; `inner` has none. */
export class ChangePieces {
  readonly #change: string
  readonly #seq: number
  #inner: Piece | undefined
  #last: Piece | undefined

  constructor(change: string, seq: number) {
    this.#change = change
    this.#seq = seq
  }

  /** Approximate length (characters). */
  get length(): number {
    return this.#change.length
  }

  get inner(): Piece {
    return (this.#inner ??= new Piece(`${this.#change}\n`))
  }

  get last(): Piece {
    return (this.#last ??= new Piece(this.#change + toIdLine(this.#seq)))
  }
}

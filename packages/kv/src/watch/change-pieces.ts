import { Piece } from '@influencer-stats/runtime/piece-list'
import { toIdLine } from '../lines/watch-events.ts'

/**
 * A change, rendered as an event in two forms. Each form is created on its first use. `last` has the `id`, for the last
 * change of a sequence that a stream gets. `inner` has no `id`, for the changes before it.
 */
export class ChangePieces {
  readonly #change: string
  readonly #seq: number
  #inner: Piece | undefined
  #last: Piece | undefined

  constructor(change: string, seq: number) {
    this.#change = change
    this.#seq = seq
  }

  /** Length of the event without the end of `inner` or `last` (characters). */
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

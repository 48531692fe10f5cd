import { Difference } from './difference.ts'
import { valueIn } from './range-reply.ts'

/** Change as a stream showed it. */
export interface WatchedChange {
  readonly op: 'put' | 'delete' | 'expire'
  readonly key: string
  readonly value?: Buffer
  readonly expiresAt?: number
  /** Sequence of the change. Changes with one sequence took effect together. */
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

function toChange(event: string, data: string, sequence: number): WatchedChange {
  const line = JSON.parse(data) as Line
  const { op, id: key, expiresAt } = line
  if (op !== event) throw new Difference(`an event ${event} with ${data.slice(0, 200)}`)
  const time = expiresAt === undefined || expiresAt === null ? {} : { expiresAt }
  return { op, key, ...(op === 'put' && { value: valueIn(line) }), ...time, sequence, receivedAt: Date.now() }
}

/** Parses server-sent events of one connection. Changes count once the `id` after them has arrived. */
export class WatchEvents {
  readonly #onChanges: (id: string, changes: readonly WatchedChange[]) => void
  #text = ''
  #event = ''
  #data: { readonly event: string; readonly data: string }[] = []
  #id: string | undefined

  constructor(onChanges: (id: string, changes: readonly WatchedChange[]) => void) {
    this.#onChanges = onChanges
  }

  /** @throws Difference */
  push(piece: Buffer): void {
    // Splits only at the bytes of line ends, because the end of a piece may cut a character.
    this.#text += piece.toString('latin1')
    for (let end = this.#text.indexOf('\n'); end >= 0; end = this.#text.indexOf('\n')) {
      const line = Buffer.from(this.#text.slice(0, end), 'latin1').toString()
      this.#text = this.#text.slice(end + 1)
      this.#line(line)
    }
  }

  #line(line: string): void {
    if (line.startsWith('event: ')) this.#event = line.slice(7)
    else if (line.startsWith('data: ')) this.#data.push({ event: this.#event, data: line.slice(6) })
    else if (line.startsWith('id: ')) this.#id = line.slice(4)
    else if (line === '' && this.#id !== undefined) this.#end(this.#id)
    else if (line !== '' && !line.startsWith('retry: ') && !line.startsWith(':'))
      throw new Difference(`not a line of a stream of changes: ${line.slice(0, 200)}`)
  }

  #end(id: string): void {
    this.#id = undefined
    this.#onChanges(
      id,
      this.#data.splice(0).map(({ event, data }) => toChange(event, data, Number(id))),
    )
  }
}

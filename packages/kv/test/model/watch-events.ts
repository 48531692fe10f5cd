import { Difference } from './difference.ts'
import { readValue } from './range-reply.ts'

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

interface EventLine {
  readonly op: 'put' | 'delete' | 'expire'
  readonly id: string
  readonly value?: string
  readonly valueBase64?: string
  readonly expiresAt?: number | null
}

function toChange(event: string, data: string, sequence: number): WatchedChange {
  const readLine = JSON.parse(data) as EventLine
  const { op, id: key, expiresAt } = readLine
  if (op !== event) throw new Difference(`an event ${event} with ${data.slice(0, 200)}`)
  const time = expiresAt === undefined || expiresAt === null ? {} : { expiresAt }
  return { op, key, ...(op === 'put' && { value: readValue(readLine) }), ...time, sequence, receivedAt: Date.now() }
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
    for (let endEvent = this.#text.indexOf('\n'); endEvent >= 0; endEvent = this.#text.indexOf('\n')) {
      const readLine = Buffer.from(this.#text.slice(0, endEvent), 'latin1').toString()
      this.#text = this.#text.slice(endEvent + 1)
      this.#readLine(readLine)
    }
  }

  #readLine(readLine: string): void {
    if (readLine.startsWith('event: ')) this.#event = readLine.slice(7)
    else if (readLine.startsWith('data: ')) this.#data.push({ event: this.#event, data: readLine.slice(6) })
    else if (readLine.startsWith('id: ')) this.#id = readLine.slice(4)
    else if (readLine === '' && this.#id !== undefined) this.#endEvent(this.#id)
    else if (readLine !== '' && !readLine.startsWith('retry: ') && !readLine.startsWith(':'))
      throw new Difference(`not a line of a stream of changes: ${readLine.slice(0, 200)}`)
  }

  #endEvent(id: string): void {
    this.#id = undefined
    this.#onChanges(
      id,
      this.#data.splice(0).map(({ event, data }) => toChange(event, data, Number(id))),
    )
  }
}

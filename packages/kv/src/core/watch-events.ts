import { readLines } from './read-lines.ts'
import { toOpLine, parseLine, type Op } from './change-lines.ts'

/** Ends an event, or says alone how far a stream is: clients resume from there, and tell nobody. */
export const toIdLine = (seq: number): string => `id: ${seq}\n\n`

const EVENT_NAMES = { put: 'put', del: 'delete', expire: 'expire' } as const

/** A change as an event without its end: its data is the line that a batch takes. JSON has no line ends. */
export const toEventText = (op: Op): string => `event: ${EVENT_NAMES[op.type]}\ndata: ${toOpLine(op)}`

/** Clients that lose their stream come back after so long (ms). */
export const toRetryLine = (ms: number): string => `retry: ${ms}\n`

/**
 * What such a stream says, place by place: an id without an event is a place without changes. What is not whole when it
 * ends is left out: it will come again.
 * @throws TypeError for what is none
 */
export async function* parseWatchEvents(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<{ seq: number; ops: Op[] }, void> {
  let data: string[] = []
  let seq: number | undefined
  for await (const bytes of readLines(chunks)) {
    const line = bytes.toString()
    if (line.startsWith('data: ')) data.push(line.slice(6))
    else if (line.startsWith('id: ')) seq = Number(line.slice(4))
    else if (line === '' && seq !== undefined) {
      yield { seq, ops: data.map(toOp) }
      data = []
      seq = undefined
    }
  }
}

function toOp(line: string): Op {
  const op = parseLine(line)
  if (typeof op === 'string') throw new TypeError(`unexpected line: ${op}`)
  return op
}

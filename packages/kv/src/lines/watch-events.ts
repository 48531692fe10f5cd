import { readEventStream } from '@influencer-stats/runtime/event-stream'
import { toOpLine, parseLine, type Op } from '../core/change-lines.ts'

/**
 * Returns the `id` line that ends an event. Without an event before it, it only reports the sequence of the stream:
 * clients store it to resume, and dispatch no event.
 */
export const toIdLine = (seq: number): string => `id: ${seq}\n\n`

/** Comment without an empty line: many clients take the block that it would end for an empty message. */
export const HEARTBEAT_LINE = ':\n'

const EVENT_NAMES = { put: 'put', del: 'delete', expire: 'expire' } as const

/**
 * Renders a change as an event without the final empty line. The data is a line that a batch accepts. It is a single
 * line, because JSON escapes line ends.
 */
export const toEventText = (op: Op): string => `event: ${EVENT_NAMES[op.type]}\ndata: ${toOpLine(op)}`

/** Returns the line that sets the time after which clients reconnect a lost stream (ms). */
export const toRetryLine = (ms: number): string => `retry: ${ms}\n`

/**
 * Yields the changes of a stream, one item per sequence. An id without an event gives an item without changes. If the
 * stream ends within a sequence, its changes are omitted: the resumed stream repeats them.
 * @throws TypeError if the data of an event is not a change
 */
export async function* parseWatchEvents(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<{ seq: number; ops: Op[] }, void> {
  let ops: Op[] = []
  for await (const { id, data } of readEventStream(chunks)) {
    if (data !== undefined) ops.push(toOp(data))
    if (id === undefined) continue
    yield { seq: Number(id), ops }
    ops = []
  }
}

function toOp(line: string): Op {
  const op = parseLine(line)
  if (typeof op === 'string') throw new TypeError(`unexpected line: ${op}`)
  return op
}

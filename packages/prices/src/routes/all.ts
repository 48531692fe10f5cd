import { holdOf, type Budget } from '@influencer-stats/runtime/budget'
import { errors as house, memoryFull } from '@influencer-stats/runtime/errors'
import { headersOf, sendPieces } from '@influencer-stats/runtime/streamed'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { IdOrder } from '../core/id-order.ts'
import { uuidBytes } from '../core/uuid.ts'
import { createAnswerRoom, isFull, type Searcher } from '../searcher.ts'
import { eachInTurns, yieldTurn } from '../turn.ts'
import type { View, Views } from '../view.ts'

const LINES_TYPE = 'application/x-ndjson'
const PIECE = 65_536
const BETWEEN_LOOKS = 64
const NEWLINE = 10
/** What a row takes until all are sent (bytes). */
const ROW = 28

/** All that a search finds, or a part of it. */
export interface AllOf {
  readonly index: string
  readonly limit: number | undefined
  /** Only prices with a higher id. */
  readonly after: string | undefined
}

export interface AllOptions {
  readonly views: Views
  readonly searcher: Searcher
  readonly budget: Budget
  /** How long a client may take for a part of its reply (ms). */
  readonly timeout: number
}

/** Sends every price that fits, a line each, in the order of their ids, as they are when the reply begins. */
export async function sendAll(
  { index, limit = Infinity, after }: AllOf,
  request: FastifyRequest,
  reply: FastifyReply,
  { views, searcher, budget, timeout }: AllOptions,
): Promise<void> {
  const view = views.current()
  const finder = views.indexOf(view, index)
  if (!request.body) throw house.BAD_JSON('there is no body')
  const rows = searcher.rows(request.body as Buffer, view, finder)
  if (!holdOf(request.raw, budget).take(ROW * rows.length)) throw memoryFull()
  view.hold()
  try {
    const order = new IdOrder(after === undefined ? undefined : uuidBytes(after.toLowerCase()))
    await eachInTurns(rows.length, (i) => order.add(view.idOf(rows[i]!), rows[i]!))
    const pieces = piecesOf(order.rows().take(limit), view)
    const begin = () => {
      reply.hijack()
      reply.raw.writeHead(200, [...headersOf(reply), 'content-type', LINES_TYPE, 'x-content-type-options', 'nosniff'])
    }
    await sendPieces(async () => (await pieces.next()).value ?? undefined, reply.raw, { begin, timeout })
  } finally {
    await view.release()
  }
}

async function* piecesOf(rows: Iterable<number>, view: View): AsyncGenerator<Uint8Array, void> {
  let room = createAnswerRoom(PIECE)
  let count = 0
  for (const row of rows) {
    const end = view.write(row, room, room.filled)
    room.bytes[end] = NEWLINE
    room.filled = end + 1
    if (++count % BETWEEN_LOOKS === 0) await yieldTurn()
    if (!isFull(room)) continue
    yield room.bytes.subarray(0, room.filled)
    room = createAnswerRoom(PIECE)
  }
  if (room.filled > 0) yield room.bytes.subarray(0, room.filled)
}

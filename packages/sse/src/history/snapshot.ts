import type { LogPosition } from '@influencer-stats/log/log'
import type { Kept, KeptTopic } from './history.ts'

// A snapshot of a history, a line each of JSON: the format's name, the topics with what is kept of them, and last what
// is known of all, with the place in the log that it is of.

const NAME = 'influencer-stats sse snapshot 1'
const PIECE = 65_536
const NEWLINE = 0x0a

/** A history, and how far in the log it is. */
export interface HistorySnapshot {
  readonly position: LogPosition
  readonly kept: Kept
}

export async function* snapshotPieces({ position, kept }: HistorySnapshot): AsyncGenerator<Buffer> {
  const { topics, ...rest } = kept
  let text = `${JSON.stringify(NAME)}\n`
  for (const topic of topics) {
    text += `${JSON.stringify(topic)}\n`
    if (text.length < PIECE) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(`${text}${JSON.stringify({ position, ...rest })}\n`)
}

/** @throws Error where it is none, or cut */
export async function readSnapshot(pieces: AsyncIterable<Buffer>): Promise<HistorySnapshot> {
  const lines: unknown[] = []
  let begun: Buffer[] = []
  for await (const piece of pieces) {
    let from = 0
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      lines.push(JSON.parse(Buffer.concat([...begun, piece.subarray(from, end)]).toString()))
      begun = []
      from = end + 1
    }
    if (from < piece.length) begun.push(piece.subarray(from))
  }
  const [name, ...topics] = lines
  const last = topics.pop() as (Omit<Kept, 'topics'> & { position?: LogPosition }) | undefined
  if (name !== NAME) throw new Error('this is no snapshot that this version knows')
  if (!last?.position) throw new Error('the snapshot is cut')
  const { position, ...rest } = last
  return { position, kept: { ...rest, topics: topics as KeptTopic[] } }
}

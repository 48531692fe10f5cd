import type { LogPosition } from '@influencer-stats/log/log'
import type { HistoryState, TopicState } from './history.ts'

// A history snapshot consists of lines of JSON. The first line is the name of the format. Then each topic has a line
// with its events. The last line has the rest of the history's state, and its position in the log.

const FORMAT_NAME = 'influencer-stats sse snapshot 1'
const CHUNK_LENGTH = 65_536
const NEWLINE = 0x0a

/** A history and its position in the log. */
export interface HistorySnapshot {
  readonly position: LogPosition
  readonly state: HistoryState
}

export async function* encodeSnapshot({ position, state }: HistorySnapshot): AsyncGenerator<Buffer> {
  const { topics, ...rest } = state
  let text = `${JSON.stringify(FORMAT_NAME)}\n`
  for (const topic of topics) {
    text += `${JSON.stringify(topic)}\n`
    if (text.length < CHUNK_LENGTH) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(`${text}${JSON.stringify({ position, ...rest })}\n`)
}

/** @throws Error if the chunks are not a snapshot, or are truncated */
export async function decodeSnapshot(chunks: AsyncIterable<Buffer>): Promise<HistorySnapshot> {
  const lines: unknown[] = []
  let partialLine: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      lines.push(JSON.parse(Buffer.concat([...partialLine, chunk.subarray(from, end)]).toString()))
      partialLine = []
      from = end + 1
    }
    if (from < chunk.length) partialLine.push(chunk.subarray(from))
  }
  const [name, ...topics] = lines
  const last = topics.pop() as (Omit<HistoryState, 'topics'> & { position?: LogPosition }) | undefined
  if (name !== FORMAT_NAME) throw new Error('this version does not know the format of the snapshot')
  if (!last?.position) throw new Error('the snapshot is truncated')
  const { position, ...rest } = last
  return { position, state: { ...rest, topics: topics as TopicState[] } }
}

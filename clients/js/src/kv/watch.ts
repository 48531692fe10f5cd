import { keepOpen, readEvents, STREAM_TIMEOUT_MS } from '../core/event-stream.ts'
import type { Requester } from '../core/requester.ts'
import type { KvChangeSet, WatchedChange, WatchOptions } from './types.ts'
import { parseBytes, withText, type EntryLine } from './values.ts'

/** Minimum delay before a stream that delivered no change is opened again (ms). */
const RETRY_DELAY_MS = 1_000

/** Yields the changes of a range: see `KvClient.watch`. */
export function watchChanges(
  { stream }: Requester,
  { prefix, start, end, after, ...call }: WatchOptions = {},
): AsyncIterableIterator<KvChangeSet> {
  let cursor = after
  let hasChanges = false

  // A sequence that is cut off is omitted: the resumed stream repeats it.
  async function* readChangeSets(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<KvChangeSet, void, undefined> {
    let changes: WatchedChange[] = []
    for await (const { id, data } of readEvents(chunks)) {
      if (data !== undefined) changes.push(parseChange(data))
      if (id === undefined) continue
      cursor = Number(id)
      hasChanges ||= changes.length > 0
      yield { sequence: cursor, changes }
      changes = []
    }
  }

  function open() {
    hasChanges = false
    const query = { prefix, start, end, after: cursor, progress: 'true' }
    return stream('GET', '/v0/watch', { query, call, idleTimeout: STREAM_TIMEOUT_MS }, readChangeSets)
  }
  return keepOpen(open, () => (hasChanges ? 0 : RETRY_DELAY_MS), call.signal)
}

function parseChange(data: string): WatchedChange {
  const line = JSON.parse(data) as EntryLine
  const { op, id, expiresAt } = line
  if (op === 'delete') return { op, id }
  if (op === 'expire') return { op, id, ...(typeof expiresAt === 'number' && { expiresAt }) }
  return withText({ op: 'put' as const, id, ...parseBytes(line) })
}

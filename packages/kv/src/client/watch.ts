import { pause } from '@influencer-stats/runtime/async/retry'
import { getRetryDelay, isPermanent } from '@influencer-stats/runtime/service-error'
import type { Op } from '../core/change-lines.ts'
import { parseWatchEvents } from '../lines/watch-events.ts'
import type { KvRequester } from './requester.ts'
import type { KvChangeSet, WatchOptions } from './types.ts'

/** Minimum delay before the client opens a stream again, if the last stream delivered no change (ms). */
const RETRY_DELAY_MS = 1_000
const NEVER_SIGNAL = new AbortController().signal

/** Yields the changes of a range: see `KvClient.watch`. */
export async function* watchChanges(
  requester: KvRequester,
  { prefix, start, end, after, signal = NEVER_SIGNAL }: WatchOptions = {},
): AsyncGenerator<KvChangeSet, void> {
  let cursor = after
  while (!signal.aborted && !requester.isClosed) {
    let hasChanges = false
    let delay = RETRY_DELAY_MS
    try {
      const query = { prefix, start, end, after: cursor?.toString(), progress: 'true' }
      const { body } = await requester.send('GET', '/v0/watch', { query, streamSignal: signal })
      for await (const { seq, ops } of parseWatchEvents(body)) {
        cursor = seq
        hasChanges ||= ops.length > 0
        yield { sequence: seq, changes: ops.map(toChange) }
      }
    } catch (error) {
      if (error instanceof TypeError || isPermanent(error)) throw error
      delay = getRetryDelay(error, delay)
    }
    // A stream that delivered changes is opened again at once.
    if (!hasChanges && !requester.isClosed) await pause(delay, signal)
  }
}

function toChange(op: Op): KvChangeSet['changes'][number] {
  const id = op.key.toString()
  if (op.type === 'del') return { op: 'delete', id }
  const expiry = op.expiresAt === undefined ? {} : { expiresAt: op.expiresAt }
  return op.type === 'put' ? { op: 'put', id, value: op.value, ...expiry } : { op: 'expire', id, ...expiry }
}

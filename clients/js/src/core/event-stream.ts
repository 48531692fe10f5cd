import { pause } from './pause.ts'
import { readLines } from './reply-parts.ts'
import { isPermanent, ServiceError } from './service-error.ts'

/** An event, an id without an event, or a `retry`. */
export interface EventBlock {
  readonly id?: string | undefined
  readonly event?: string | undefined
  readonly data?: string | undefined
  /** Time after which the client should reconnect (ms). */
  readonly retry?: number | undefined
}

/** Time without data after which a stream counts as lost (ms): four heartbeats by default. */
export const STREAM_TIMEOUT_MS = 60_000

/** Yields the blocks of a stream that have an id or data, once they are complete, and its `retry` fields. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<EventBlock, void, undefined> {
  let block: { id?: string; event?: string; data?: string } = {}
  for await (const line of readLines(chunks)) {
    if (line === '') {
      // Without data there is no event, whatever its name.
      if (block.data !== undefined) yield block
      else if (block.id !== undefined) yield { id: block.id }
      block = {}
      continue
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line)!
    if (name === 'data') block.data = block.data === undefined ? value : `${block.data}\n${value}`
    else if (name === 'event') block.event = value
    else if (name === 'id' && !value.includes('\0')) block.id = value
    else if (name === 'retry' && /^\d+$/.test(value)) yield { retry: Number(value) }
  }
}

/**
 * Yields the items of a stream, and opens it again after it ends or is lost. Ends when the signal is aborted.
 * @param getDelay called after each end: time to the next opening (ms); `undefined` ends the iteration
 * @throws ServiceError of a permanent refusal
 */
export async function* keepOpen<T>(
  open: () => AsyncIterable<T>,
  getDelay: () => number | undefined,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  while (!signal?.aborted) {
    let retryAfter = 0
    try {
      yield* open()
    } catch (error) {
      if (signal?.aborted) return
      if (isPermanent(error)) throw error
      if (error instanceof ServiceError) retryAfter = (error.retryAfter ?? 0) * 1_000
    }
    const delay = getDelay()
    if (delay === undefined) return
    await pause(Math.max(delay, retryAfter), signal)
  }
}

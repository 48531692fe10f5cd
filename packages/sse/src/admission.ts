import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { DEFAULT_TOPIC } from './core/event.ts'
import { readEventId } from './core/event-id.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { History } from './history/history.ts'
import type { StreamRequest } from './stream-request.ts'
import type { WaitQuery } from './routes/schemas.ts'

/** The encoders that a client may choose from. */
export interface Encoders {
  readonly eventStream: Encoder
  readonly comet: Encoder
}

/** What is to be done with who asks for a stream. */
export type Admission =
  | { readonly kind: 'stream'; readonly request: StreamRequest }
  /** All streams were closed, and the client was told: it is to stay away. */
  | { readonly kind: 'closed' }
  /** The client has seen, on another thread, what this one has yet to hear of; or it claims to. */
  | { readonly kind: 'ahead' }

/**
 * Reads what a stream is to be from a checked query and the headers.
 * @param caughtUp whether a position ahead of this thread's can only be one that was never given out
 */
export function readAdmission(
  query: WaitQuery,
  headers: RequestHeaders,
  history: Pick<History, 'epoch' | 'seq'>,
  { eventStream, comet }: Encoders,
  caughtUp: boolean,
): Admission {
  const lastId = headers['last-event-id'] || query.lastEventId
  const position = lastId ? readEventId(String(lastId)) : undefined
  if (position?.closed) return { kind: 'closed' }
  const known = position?.epoch === history.epoch
  if (known && position.seq > history.seq && !caughtUp) return { kind: 'ahead' }
  const resumable = known && position.seq <= history.seq
  const topics = [query.topic ?? DEFAULT_TOPIC].flat()
  return {
    kind: 'stream',
    request: {
      encoder: wantsPage(headers.accept as string | undefined) ? comet : eventStream,
      topics: topics.length > 1 ? [...new Set(topics)] : topics,
      last: query.last === '1',
      resumeAfter: lastId ? (resumable ? position.seq : Number.NaN) : undefined,
    },
  }
}

/** A browser that opens the address as a page or in a frame, rather than with EventSource. */
const wantsPage = (accept = '') => accept.includes('text/html') && !accept.includes('text/event-stream')

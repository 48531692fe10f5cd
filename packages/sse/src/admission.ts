import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { DEFAULT_TOPIC } from './core/event.ts'
import { readEventId } from './core/event-id.ts'
import type { Reader } from './core/reader.ts'
import { createSelectors, type Selectors } from './core/selectors.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { History } from './history/history.ts'
import type { StreamRequest } from './stream-request.ts'
import type { WaitQuery } from './routes/schemas.ts'

/** The encoders that a client may choose from. */
export interface Encoders {
  readonly eventStream: Encoder
  readonly named: Encoder
  readonly comet: Encoder
}

/** What is to be done with who asks for a stream. */
export type Admission =
  | { readonly kind: 'stream'; readonly request: StreamRequest }
  /** All streams were closed, and the client was told: it is to stay away. */
  | { readonly kind: 'closed' }
  /** The client has seen, on another thread, what this one has yet to hear of; or it claims to. */
  | { readonly kind: 'ahead' }

/** Where a stream goes on. */
export type Resumption =
  | Exclude<Admission, { readonly kind: 'stream' }>
  /** As `StreamRequest` has it. */
  | { readonly kind: 'from'; readonly resumeAfter: number | undefined }

/**
 * Reads where a client was when it lost its stream.
 * @param caughtUp whether a position ahead of this thread's can only be one that was never given out
 */
export function readResumption(
  lastId: string | undefined,
  history: Pick<History, 'epoch' | 'seq'>,
  caughtUp: boolean,
): Resumption {
  const position = lastId ? readEventId(lastId) : undefined
  if (position?.closed) return { kind: 'closed' }
  const known = position?.epoch === history.epoch
  if (known && position.seq > history.seq && !caughtUp) return { kind: 'ahead' }
  const resumable = known && position.seq <= history.seq
  return { kind: 'from', resumeAfter: lastId ? (resumable ? position.seq : Number.NaN) : undefined }
}

/**
 * How far what is lost reaches, and after which place a resumed stream goes on: that of the client, if it misses nothing;
 * nothing where all there ever was is sent, or where no place would tell it from its own.
 * @param all whether the client asked for all that is kept
 */
export function resumedFrom(
  history: History,
  selectors: Selectors,
  reader: Reader,
  resumeAfter: number,
  all: boolean,
): { readonly lostUpTo: number; readonly from: number | undefined } {
  const { events, complete, lostUpTo } = history.since(selectors, resumeAfter || 0, 1, reader)
  const isKnown = !all && !Number.isNaN(resumeAfter)
  if (isKnown && complete) return { lostUpTo, from: resumeAfter }
  const before = (events[0]?.seq ?? history.seq + 1) - 1
  const isTold = isKnown ? before > resumeAfter : lostUpTo > 0
  return { lostUpTo, from: isTold ? before : undefined }
}

/**
 * Reads what a stream is to be from a checked query and the headers.
 * @param by who asks
 * @param caughtUp whether a position ahead of this thread's can only be one that was never given out
 */
export function readAdmission(
  query: WaitQuery,
  headers: RequestHeaders,
  history: Pick<History, 'epoch' | 'seq'>,
  { eventStream, named, comet }: Encoders,
  by: Pick<StreamRequest, 'reader' | 'expiresAt'>,
  caughtUp: boolean,
): Admission {
  const lastId = headers['last-event-id'] || query.lastEventId
  const resumption = readResumption(lastId ? String(lastId) : undefined, history, caughtUp)
  if (resumption.kind !== 'from') return resumption
  const encoder = query.named === '1' ? named : eventStream
  return {
    kind: 'stream',
    request: {
      encoder: wantsPage(headers.accept as string | undefined) ? comet : encoder,
      selectors: readSelectors(query),
      reader: by.reader,
      expiresAt: by.expiresAt,
      last: query.last === '1',
      resumeAfter: resumption.resumeAfter,
    },
  }
}

/** The topics of a query: those named, and those that `match` selects by how they begin. */
function readSelectors({ topic, match = [] }: WaitQuery): Selectors {
  const matches = [match].flat()
  const topics = topic === undefined ? (matches.length === 0 ? [DEFAULT_TOPIC] : []) : [topic].flat()
  const prefixes = matches.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1))
  return createSelectors([...topics, ...matches.filter((one) => !one.endsWith('*'))], prefixes)
}

/** A browser that opens the address as a page or in a frame, rather than with EventSource. */
const wantsPage = (accept = '') => accept.includes('text/html') && !accept.includes('text/event-stream')

import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { isEventSource } from '@influencer-stats/runtime/is-event-source'
import { DEFAULT_TOPIC } from '../core/event.ts'
import { HUB_ID_MARK, parseEventId } from '../core/event-id.ts'
import type { ReadScope } from '../core/read-scope.ts'
import { createSelectors, type Selectors } from '../core/selectors.ts'
import type { Encoder } from '../encoder/encoder.ts'
import type { History } from '../history/history.ts'
import type { StreamRequest } from '../hub/stream-request.ts'
import type { WaitQuery } from './schemas.ts'

/** Encoders that a client may choose from. */
export interface Encoders {
  readonly eventStream: Encoder
  readonly named: Encoder
  readonly comet: Encoder
}

/** Result of parsing a request for a stream. */
export type ParsedSubscription =
  | { readonly kind: 'stream'; readonly request: StreamRequest }
  /** The client has received the closing of all streams and must not reconnect. */
  | { readonly kind: 'closed' }
  /** This thread has not received the client's last event yet, or the client invented its id. */
  | { readonly kind: 'ahead' }

/** Result of parsing the last event id of a client. */
export type Resumption =
  | Exclude<ParsedSubscription, { readonly kind: 'stream' }>
  /** The stream can be opened; `resumeAfter` as in `StreamRequest`. */
  | { readonly kind: 'from'; readonly resumeAfter: number | undefined }

/**
 * Determines the position of a client that lost its stream.
 * @param lastId id of the client's last event; undefined or empty for a new stream
 * @param isCaughtUp true after `Broker.catchUp`: an id beyond the history was then never assigned
 */
export function parseResumption(
  lastId: string | undefined,
  history: Pick<History, 'epoch' | 'seq'>,
  isCaughtUp: boolean,
): Resumption {
  const position = lastId ? parseEventId(lastId) : undefined
  if (position?.closed) return { kind: 'closed' }
  const isSameEpoch = position?.epoch === history.epoch
  if (isSameEpoch && position.seq > history.seq && !isCaughtUp) return { kind: 'ahead' }
  const resumable = isSameEpoch && position.seq <= history.seq
  return { kind: 'from', resumeAfter: lastId ? (resumable ? position.seq : Number.NaN) : undefined }
}

/**
 * As `parseResumption`, for a client of the Mercure protocol, whose last id may be one that a publisher chose.
 * `isPublisherId` is true if the history has an update with this id.
 */
export function parseMercureResumption(
  lastId: string,
  history: Pick<History, 'epoch' | 'seq' | 'findById'>,
  isCaughtUp: boolean,
): Resumption & { readonly isPublisherId?: boolean } {
  if (lastId === '' || lastId.startsWith(HUB_ID_MARK)) return parseResumption(lastId, history, isCaughtUp)
  const seq = history.findById(lastId)
  if (seq !== undefined) return { kind: 'from', resumeAfter: seq, isPublisherId: true }
  // A client may send the ids of `/wait`, too. Any other id may belong to an update that this thread has not received.
  const position = parseEventId(lastId)
  if (position?.epoch === history.epoch && !position.closed) return parseResumption(lastId, history, isCaughtUp)
  return isCaughtUp ? { kind: 'from', resumeAfter: Number.NaN } : { kind: 'ahead' }
}

/**
 * Returns where a resumed stream continues.
 * - `lostUpTo`: lost events have this sequence number at most.
 * - `from`: the stream has all events after this sequence number. It equals the client's position if no event after
 *   that position is lost. It is undefined if the stream has everything that was ever published. It is also undefined
 *   if events are lost but `from` would equal the client's position, because the client would then not learn of the
 *   loss.
 * @param all true if the client requested all stored events
 */
export function findResumePoint(
  history: History,
  selectors: Selectors,
  reader: ReadScope,
  resumeAfter: number,
  all: boolean,
): { readonly lostUpTo: number; readonly from: number | undefined } {
  const { events, complete, lostUpTo } = history.readSince(selectors, resumeAfter || 0, 1, reader)
  const isKnown = !all && !Number.isNaN(resumeAfter)
  if (isKnown && complete) return { lostUpTo, from: resumeAfter }
  const before = (events[0]?.seq ?? history.seq + 1) - 1
  const isReported = isKnown ? before > resumeAfter : lostUpTo > 0
  return { lostUpTo, from: isReported ? before : undefined }
}

/**
 * Parses the options of a stream from a validated query and the headers.
 * @param access read access of the client, and its expiry
 * @param isCaughtUp as in `parseResumption`
 */
export function parseSubscription(
  query: WaitQuery,
  headers: RequestHeaders,
  history: Pick<History, 'epoch' | 'seq'>,
  { eventStream, named, comet }: Encoders,
  access: Pick<StreamRequest, 'reader' | 'expiresAt'>,
  isCaughtUp: boolean,
): ParsedSubscription {
  const lastId = headers['last-event-id'] || query.lastEventId
  const resumption = parseResumption(lastId ? String(lastId) : undefined, history, isCaughtUp)
  if (resumption.kind !== 'from') return resumption
  const encoder = query.named === '1' ? named : eventStream
  return {
    kind: 'stream',
    request: {
      encoder: acceptsPage(headers.accept as string | undefined) ? comet : encoder,
      selectors: readSelectors(query),
      reader: access.reader,
      expiresAt: access.expiresAt,
      isEventSource: isEventSource(headers),
      last: query.last === '1',
      resumeAfter: resumption.resumeAfter,
    },
  }
}

/** Returns the selectors of a query: names in `topic`, names and prefixes in `match`. */
function readSelectors({ topic, match = [] }: WaitQuery): Selectors {
  const matches = [match].flat()
  const topics = topic === undefined ? (matches.length === 0 ? [DEFAULT_TOPIC] : []) : [topic].flat()
  const prefixes = matches.filter((match) => match.endsWith('*')).map((match) => match.slice(0, -1))
  return createSelectors([...topics, ...matches.filter((match) => !match.endsWith('*'))], prefixes)
}

/** True if a browser opens the URL as a page or in a frame, rather than with EventSource. */
const acceptsPage = (accept = '') => accept.includes('text/html') && !accept.includes('text/event-stream')

import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { DEFAULT_TOPIC } from './core/event.ts'
import { parseEventId } from './core/event-id.ts'
import type { ReadScope } from './core/read-scope.ts'
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
export type ParsedSubscription =
  | { readonly kind: 'stream'; readonly request: StreamRequest }
  /** All streams were closed, and the client was told: it is to stay away. */
  | { readonly kind: 'closed' }
  /** The client has seen, on another thread, what this one has yet to hear of; or it claims to. */
  | { readonly kind: 'ahead' }

/** Where a stream goes on. */
export type Resumption =
  | Exclude<ParsedSubscription, { readonly kind: 'stream' }>
  /** As `StreamRequest` has it. */
  | { readonly kind: 'from'; readonly resumeAfter: number | undefined }

/**
 * Reads where a client was when it lost its stream.
 * @param isCaughtUp whether a position ahead of this thread's can only be one that was never given out
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
 * How far what is lost reaches, and after which place a resumed stream goes on: that of the client, if it misses nothing;
 * nothing where all there ever was is sent, or where no place would tell it from its own.
 * @param all whether the client asked for all that is kept
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
 * Reads what a stream is to be from a checked query and the headers.
 * @param access who asks
 * @param isCaughtUp whether a position ahead of this thread's can only be one that was never given out
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
      last: query.last === '1',
      resumeAfter: resumption.resumeAfter,
    },
  }
}

/** The topics of a query: those named, and those that `match` selects by how they begin. */
function readSelectors({ topic, match = [] }: WaitQuery): Selectors {
  const matches = [match].flat()
  const topics = topic === undefined ? (matches.length === 0 ? [DEFAULT_TOPIC] : []) : [topic].flat()
  const prefixes = matches.filter((match) => match.endsWith('*')).map((match) => match.slice(0, -1))
  return createSelectors([...topics, ...matches.filter((match) => !match.endsWith('*'))], prefixes)
}

/** A browser that opens the address as a page or in a frame, rather than with EventSource. */
const acceptsPage = (accept = '') => accept.includes('text/html') && !accept.includes('text/event-stream')

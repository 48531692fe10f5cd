import { hash } from 'node:crypto'

/** Parsed id of the last event that a client received. */
export interface EventPosition {
  /** Epoch in which the broadcaster assigned `seq`. An epoch names one history; another history has another epoch. */
  readonly epoch: string
  readonly seq: number
  /** True if the last event that the client received was the closing of all streams. */
  readonly closed: boolean
}

/** First character of the ids that the hub assigns in the Mercure protocol. An id of a publisher cannot begin with it. */
export const HUB_ID_MARK = '#'

// Clients of the Mercure protocol send ids with a leading `#`. In the id of the event that closes all streams, the
// number has a leading zero. So every process recognizes this event, even after a restart.
const ID_PATTERN = /^#?([a-z0-9]{1,16})-(0?)(\d{1,16})$/

/** Formats the id of an event: `<epoch>-<seq>`. */
export const formatEventId = (epoch: string, seq: number): string => `${epoch}-${seq}`

/** Formats the id of a closing. A client that reconnects with this id gets 204 and stays disconnected. */
export const formatClosingId = (epoch: string, seq: number): string => `${epoch}-0${seq}`

/** Parses a `Last-Event-ID`. Returns undefined if it does not have the format of this service. */
export function parseEventId(id: string): EventPosition | undefined {
  const match = ID_PATTERN.exec(id)
  if (!match) return undefined
  const seq = Number(match[3])
  return Number.isSafeInteger(seq) ? { epoch: match[1]!, seq, closed: match[2] === '0' } : undefined
}

/** Creates an epoch: the time (ms) and a random number. Two histories with the same epoch do not occur in practice. */
export const createEpoch = (): string =>
  Date.now().toString(36) +
  Math.floor(Math.random() * 46_656)
    .toString(36)
    .padStart(3, '0')

/**
 * Derives the epoch of event ids from the epoch of the log. It is the same on all nodes, and another log has another
 * one.
 */
export const deriveEpoch = (log: string): string => hash('sha256', log, 'buffer').readBigUInt64BE().toString(36)

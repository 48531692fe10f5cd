import { hash } from 'node:crypto'

/** Position of a client when it lost its stream. */
export interface EventPosition {
  /** Epoch in which the broadcaster assigned `seq`. */
  readonly epoch: string
  readonly seq: number
  /** True if the last event that the client received was the closing of all streams. */
  readonly closed: boolean
}

// Mercure clients send ids as fragments. A leading zero marks the event that closes all streams, so that any process
// recognizes it, even after a restart.
const ID_PATTERN = /^#?([a-z0-9]{1,16})-(0?)(\d{1,16})$/

/** Formats the id of an event: `<epoch>-<seq>`. */
export const formatEventId = (epoch: string, seq: number): string => `${epoch}-${seq}`

/** Formats the id of a closing. A client that reconnects with this id gets 204 and stays disconnected. */
export const formatClosingId = (epoch: string, seq: number): string => `${epoch}-0${seq}`

/** Parses a `Last-Event-ID`. Returns undefined if this service did not create it. */
export function parseEventId(id: string): EventPosition | undefined {
  const match = ID_PATTERN.exec(id)
  if (!match) return undefined
  const seq = Number(match[3])
  return Number.isSafeInteger(seq) ? { epoch: match[1]!, seq, closed: match[2] === '0' } : undefined
}

/** Creates an epoch that is unique on this machine and, for practical purposes, across machines. */
export const createEpoch = (): string =>
  Date.now().toString(36) +
  Math.floor(Math.random() * 46_656)
    .toString(36)
    .padStart(3, '0')

/** Derives the epoch of a log's events: the same on all of its nodes, and different for another log. */
export const deriveEpoch = (log: string): string => hash('sha256', log, 'buffer').readBigUInt64BE().toString(36)

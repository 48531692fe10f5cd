import { hash } from 'node:crypto'

/** Where a client was when it lost its stream. */
export interface EventPosition {
  /** Which life of the broadcaster counted `seq`. */
  readonly epoch: string
  readonly seq: number
  /** The last thing it got was the closing of all streams. */
  readonly closed: boolean
}

// Mercure's clients have them as fragments. A zero in front marks the event that closes all streams, so that any process knows one, even after a restart.
const ID_PATTERN = /^#?([a-z0-9]{1,16})-(0?)(\d{1,16})$/

/** The id of an event: `<epoch>-<seq>`. */
export const formatEventId = (epoch: string, seq: number): string => `${epoch}-${seq}`

/** The id of a closing: a client that comes back with it is sent away. */
export const formatClosingId = (epoch: string, seq: number): string => `${epoch}-0${seq}`

/** Reads a `Last-Event-ID`; nothing if it was none of ours. */
export function parseEventId(id: string): EventPosition | undefined {
  const match = ID_PATTERN.exec(id)
  if (!match) return undefined
  const seq = Number(match[3])
  return Number.isSafeInteger(seq) ? { epoch: match[1]!, seq, closed: match[2] === '0' } : undefined
}

/** A new epoch: unlike any other of this machine, and of others for all practical purposes. */
export const createEpoch = (): string =>
  Date.now().toString(36) +
  Math.floor(Math.random() * 46_656)
    .toString(36)
    .padStart(3, '0')

/** The epoch of what a log counts: the same on all its nodes, and for another log another. */
export const deriveEpoch = (log: string): string => hash('sha256', log, 'buffer').readBigUInt64BE().toString(36)

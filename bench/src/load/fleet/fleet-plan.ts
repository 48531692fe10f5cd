import type { LoadRequest } from '../load-plan.ts'

/** How a broadcaster is spoken to: its requests, and how values stand in its events. */
export interface Dialect {
  /** Opens a stream; `{cid}` in its path stands for the stream's number. */
  readonly wait: LoadRequest
  /** Sends a value to every stream; `{value}` stands for it, `{topic}` for a number below `topics`. */
  readonly put: LoadRequest
  /** Ends every stream. */
  readonly closeAll: LoadRequest
  /** Values go to so many topics in turn. */
  readonly topics?: number
  /** Whether the reply to a value is that value; else any body is right. */
  readonly echoes: boolean
  /** What stands before and after a value in its `data` line: quotes, where values are sent as JSON. */
  readonly around: readonly [before: string, after: string]
  /** A stream is told that it is open by an event of its own, and so that it will end. */
  readonly greets?: boolean
  /** What is sent at once may come in another order on each stream: that is told, and is no failure. */
  readonly isUnordered?: boolean
}

/** The dialect of the source and of the service. */
export const DEFAULT_DIALECT: Dialect = {
  wait: { method: 'GET', path: '/wait?cid={cid}' },
  put: { method: 'GET', path: '/put?v={value}' },
  closeAll: { method: 'GET', path: '/closeall' },
  echoes: true,
  around: ['', ''],
}

/** So many values, one each `interval` ms, whatever became of those before: times count from when a value was due. */
export interface PacedSending {
  readonly values: number
  readonly interval: number
}

/** Each publisher sends when it has its reply: what the server can do. Seconds; values of the warm-up are not timed. */
export interface SaturationSending {
  readonly seconds: number
  readonly warmUp: number
}

/** Open streams, send values to all of them, end them. */
export interface FleetPlan {
  /** Scheme, host and port. */
  readonly url: string
  /** The server's process, whose memory and processor time are told. */
  readonly pid: number
  readonly dialect: Dialect
  readonly streams: number
  /** Milliseconds from one stream to the next. 0: as fast as the server takes them. */
  readonly spacing: number
  readonly sending: PacedSending | SaturationSending
  /** Connections that carry values, one at a time each. */
  readonly publishers: number
}

/** Open streams, end them, and so on. */
export interface ConnectingPlan extends Pick<FleetPlan, 'url' | 'dialect' | 'streams' | 'spacing'> {
  /** For how many seconds a next round is begun. */
  readonly duration: number
}

/** Seconds until a fleet that makes no progress any more gives up: to connect, to receive, to end. */
export const PROGRESS_TIMEOUT_S = 4
/** From when (ms) a reply counts as none, as at the source. */
export const REJECTION_TIMEOUT_MS = 1000

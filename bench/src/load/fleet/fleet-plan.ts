import type { LoadRequest } from '../load-plan.ts'

/** The protocol of a broadcast server: its requests, and the form of values in its events. */
export interface Dialect {
  /** Opens a stream; `{cid}` in its path is replaced by the stream's number. */
  readonly wait: LoadRequest
  /** Sends a value to every stream; replaces `{value}`, and `{topic}` by a number below `topics`. */
  readonly put: LoadRequest
  /** Ends every stream. */
  readonly closeAll: LoadRequest
  /** Number of topics, to which values go in turn. */
  readonly topics?: number
  /** True if the reply to a value is that value; otherwise any body is valid. */
  readonly echoes: boolean
  /** Text before and after a value in its `data` line: quotes if values are sent as JSON. */
  readonly around: readonly [before: string, after: string]
  /** True if the server announces the opening and the end of a stream by an event. */
  readonly greets?: boolean
  /**
   * True if concurrent values may arrive in different orders on different streams. That is reported, but is no failure.
   */
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

/**
 * Sends `values` values, one every `interval` ms, regardless of earlier ones. Times count from when a value was due.
 */
export interface PacedSending {
  readonly values: number
  readonly interval: number
}

/** Each publisher sends after its last reply: measures the capacity. Seconds; values of the warm-up are not timed. */
export interface SaturationSending {
  readonly seconds: number
  readonly warmUp: number
}

/** Opens streams, sends values to all of them, and ends them. */
export interface FleetPlan {
  /** Scheme, host and port. */
  readonly url: string
  /** The server's process, whose memory and processor time are measured. */
  readonly pid: number
  readonly dialect: Dialect
  readonly streams: number
  /** Milliseconds from one stream to the next. 0: without a pause. */
  readonly spacing: number
  readonly sending: PacedSending | SaturationSending
  /** Connections for values, with one open request each. */
  readonly publishers: number
}

/** Opens streams, ends them, and repeats. */
export interface ConnectingPlan extends Pick<FleetPlan, 'url' | 'dialect' | 'streams' | 'spacing'> {
  /** Seconds during which a next round begins. */
  readonly duration: number
}

/** Seconds without progress after which a fleet gives up: to connect, to receive, to end. */
export const PROGRESS_TIMEOUT_S = 4
/** A reply later than this is a rejection (ms), as at the source. */
export const REJECTION_TIMEOUT_MS = 1000

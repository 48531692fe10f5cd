import { GRACE, OVERHEAD, runInOwnProcess } from './common/own-process.ts'

/** How a broadcaster is spoken to: its paths, and how values stand in its events. */
export interface Dialect {
  /** Opens a stream; `{cid}` stands for the stream's number. */
  readonly wait: string
  /** Sends a value to every stream; `{value}` stands for it. */
  readonly put: string
  /** Where the value is the body, that; else there is none. */
  readonly body?: string
  /** Ends every stream. */
  readonly closeAll: string
  readonly method: 'GET' | 'POST'
  /** Of what ends the streams, where it is another. */
  readonly closeMethod?: 'DELETE'
  /** Whether the reply to a value is that value; else any body is right. */
  readonly echoes: boolean
  /** What stands before and after a value in its `data` line: quotes, where values are sent as JSON. */
  readonly around: readonly [before: string, after: string]
}

/** The dialect of the source and of the service. */
export const DIALECT: Dialect = {
  wait: '/wait?cid={cid}',
  put: '/put?v={value}',
  closeAll: '/closeall',
  method: 'GET',
  echoes: true,
  around: ['', ''],
}

/** So many values, one each `interval` ms, whatever became of those before: times count from when a value was due. */
export interface Paced {
  readonly values: number
  readonly interval: number
}

/** Each publisher sends when it has its reply: what the server can do. Seconds; values of the warm-up are not timed. */
export interface Saturating {
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
  readonly sending: Paced | Saturating
  /** Connections that carry values, one at a time each. */
  readonly publishers: number
  /** Processors that the fleet may use, where the platform can pin it. */
  readonly pin?: readonly number[]
}

/** Open streams, end them, and so on. */
export interface ConnectingPlan extends Pick<FleetPlan, 'url' | 'dialect' | 'streams' | 'spacing' | 'pin'> {
  /** For how long a next round is begun. */
  readonly seconds: number
}

/** Streams of all rounds. */
export interface ConnectingResult {
  readonly opened: number
  readonly refused: number
}

/** What came of a plan: what makes it no result, and figures. Memory is resident (MB = 10^6 bytes). */
export interface FleetResult {
  /** Streams that the server did not open, or that ended before they were told to. */
  readonly refused: number
  readonly cut: number
  /** Streams that did not end, or not well, in the 4 s after the server was told to end them. */
  readonly unclosed: number
  /** Accepted values that a stream never received, or received again. */
  readonly lost: number
  readonly doubled: number
  /** Values received after a later one of the same publisher; if there are none, streams with an order of their own. */
  readonly outOfOrder: number
  /** Events and replies that are not what was sent. */
  readonly wrong: number
  /** Values sent; those of them that were not answered 200 within a second of when they were due. */
  readonly values: number
  readonly rejected: number
  /** The server's processor time a delivery (us), and its largest share of a processor in any second. */
  readonly cpu: number
  readonly connecting: number
  readonly sending: number
  /** Values a second that arrived at streams, all together, while values were sent; those of a stream, on average. */
  readonly deliveries: number
  readonly received: number
  /** From when a value was due until it was received (us), and until it was answered, on average (ms). */
  readonly deliveryP50: number
  readonly deliveryP99: number
  readonly query: number
  readonly connects: number
  /** Memory without streams, once every value has been received, and the difference: in all, and a stream's (KB). */
  readonly idle: number
  readonly memory: number
  readonly grown: number
  readonly perStream: number
  /** What the kernel holds more for a stream, of the server's socket and of the fleet's (KB). NaN where it cannot be told. */
  readonly kernel: number
  /** Saturating: the share of a processor that the fleet took. At a pace it takes all of it to be on time. */
  readonly generator?: number
  /** At a pace: how late the fleet was to see that values were due (us, p99), which is its own part of their times. */
  readonly lateness?: number
}

/** Seconds until a fleet that makes no progress any more gives up: to connect, to receive, to end. */
export const PATIENCE = 4
/** From when (ms) a reply counts as none, as at the source. */
export const REJECTED_AFTER = 1000

/** Milliseconds that a stream may take to open where others have the machine. */
const SLOWEST = 5

/** How long (s) the values take to send. */
export const secondsOf = (sending: FleetPlan['sending']): number =>
  'seconds' in sending ? sending.warmUp + sending.seconds : (sending.values * sending.interval) / 1000

const moduleOf = (name: string) => new URL(`./fleet/${name}.ts`, import.meta.url).href

/**
 * Runs a fleet in a process of its own. On one processor it takes 220,000 deliveries a second that come one by one (4.5 us
 * each, nearly all of it the read), 1.6 million that come eight at once, and 3.8 million that come 64 at once (0.26 us).
 *
 * @throws Error when it could not run: too few open files, a dead server
 */
export function runFleet(plan: FleetPlan): Promise<FleetResult> {
  const connecting = (plan.streams * Math.max(plan.spacing, SLOWEST)) / 1000
  // Progress may be slow all the way: ten times the patience is for servers that are overloaded but alive.
  const seconds = connecting + secondsOf(plan.sending) + 10 * PATIENCE + GRACE + OVERHEAD
  return runInOwnProcess(moduleOf('run'), 'runFleetHere', plan, seconds * 1000)
}

/** Opens streams again and again in a process of its own. @throws Error when it could not run */
export function runConnecting(plan: ConnectingPlan): Promise<ConnectingResult> {
  return runInOwnProcess(
    moduleOf('connecting-run'),
    'runConnectingHere',
    plan,
    (plan.seconds + 4 * PATIENCE + OVERHEAD) * 1000,
  )
}

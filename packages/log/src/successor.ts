import { StartError } from '@influencer-stats/runtime/errors'
import { JetStreamApiError, jetstreamManager, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { setTimeout as delay } from 'node:timers/promises'
import { connectNats } from './jetstream/connect-nats.ts'
import type { JetStreamLogOptions, NatsOptions } from './jetstream/options.ts'
import { createSnapshotStore } from './jetstream/snapshot-store.ts'
import { hasQuorum } from './jetstream/stream/quorum.ts'
import {
  createStream,
  findStream,
  getAncestor,
  getOwner,
  type LogAncestor,
  type StreamOptions,
} from './jetstream/stream/stream.ts'
import { getEpoch, LogLostError, RETRY_INTERVAL_MS, verifyStream } from './jetstream/stream/verify-stream.ts'

export type { LogAncestor, NatsOptions }

/** Time to wait until the stream of a log has a leader and a quorum (ms). */
const QUORUM_TIMEOUT_MS = 20_000
/** Time to wait until the servers can store the stream of a log (ms). */
const STORE_TIMEOUT_MS = 20_000
/** Error code of a server that cannot create the files of a stream. */
const STORE_FAILED_CODE = 10_049

/** Stream of a log, as an operator sees it before it is replaced. */
export interface LogDescription {
  /** Time of its creation (ISO 8601), which is the epoch of the log. */
  readonly created: string
  /** Number of its messages. */
  readonly messages: number
  readonly firstSeq: number
  readonly lastSeq: number
  /** Service that owns it; undefined for a stream of another program. */
  readonly service: string | undefined
  /** Name of its cluster; empty for none. */
  readonly cluster: string
  /** Position from which it continues; undefined if it began empty. */
  readonly ancestor: LogAncestor | undefined
  /** True if a majority of its servers is reachable. */
  readonly hasQuorum: boolean
  /** Sequence of its newest snapshot; undefined if it has none. */
  readonly latestSnapshot: number | undefined
  /** Reason why it is not the log of `position`, or lacks entries up to it; undefined if it has them. */
  readonly mismatch?: string
}

export interface InspectOptions {
  readonly nats: NatsOptions
  readonly service: string
  readonly stream: string
  /** Position of a node to compare the stream with. */
  readonly position?: LogAncestor
}

/**
 * Describes the stream of a log. Resolves with undefined if it does not exist.
 * @throws StartError `NATS_...`, `LOG_UNREACHABLE`
 */
export const inspectLog = ({ nats, service, stream, position }: InspectOptions): Promise<LogDescription | undefined> =>
  withManager(service, nats, async ({ nc, jsm }) => {
    const info = await findStream(jsm, stream)
    if (!info) return undefined
    const mismatch = position && (await findMismatch(jsm, stream, position))
    return {
      created: info.created,
      messages: info.state.messages,
      firstSeq: info.state.first_seq,
      lastSeq: info.state.last_seq,
      ...getOwner(info),
      ancestor: getAncestor(info),
      hasQuorum: hasQuorum(info),
      latestSnapshot: await createSnapshotStore(nc, jsm, stream, info).getLatest(),
      ...(mismatch !== undefined && { mismatch }),
    }
  })

async function findMismatch(jsm: JetStreamManager, stream: string, position: LogAncestor): Promise<string | undefined> {
  try {
    await verifyStream(jsm, stream, position)
    return undefined
  } catch (error) {
    if (error instanceof LogLostError) return error.message
    throw error
  }
}

export interface SuccessorOptions
  extends
    Omit<InspectOptions, 'position'>,
    Pick<StreamOptions, 'cluster' | 'replicas'>,
    Pick<JetStreamLogOptions, 'storage'> {
  /** Position of the node from whose state the log continues. */
  readonly ancestor: LogAncestor
  /**
   * Yields the snapshot of that node's state machine at the position `ancestor`. Its bytes are stored as they are: a node
   * that loads them adopts the epoch of the new stream.
   */
  snapshot(): AsyncIterable<Buffer>
  /** True if another stream of this name may be deleted. */
  readonly replace: boolean
  /** Called before each step, with a description. */
  onStep?(description: string): void
}

/**
 * Creates the stream that continues a lost log after a position, and stores the snapshot from which the other nodes
 * start. It can be repeated after a failure at any point: a stream with the same ancestor is kept, and a stored snapshot
 * too.
 * @returns the epoch of the log
 * @throws StartError `LOG_EXISTS` if another stream has the name and `replace` is false; `NATS_...`, `LOG_UNREACHABLE`
 */
export function createSuccessor(options: SuccessorOptions): Promise<{ readonly epoch: string }> {
  const { nats, service, stream, ancestor, replace, onStep = () => {} } = options
  return withManager(service, nats, async ({ nc, jsm }) => {
    let existing = await findStream(jsm, stream)
    if (existing && !isSuccessor(existing, ancestor)) {
      if (!replace)
        throw new StartError('LOG_EXISTS', `${service}: stream ${stream} exists (created ${existing.created})`)
      onStep(`deleting stream ${stream} (created ${existing.created}, ${existing.state.messages} messages)`)
      await jsm.streams.delete(stream)
      existing = undefined
    }
    if (existing) onStep(`stream ${stream} already continues after sequence ${ancestor.seq}`)
    else {
      onStep(`creating stream ${stream}, which continues after sequence ${ancestor.seq}`)
      await createStoredStream(jsm, options)
    }
    const info = await waitForQuorum(jsm, options)
    const snapshots = createSnapshotStore(nc, jsm, stream, info)
    if ((await snapshots.getLatest()) === undefined) {
      onStep(`storing the snapshot at sequence ${ancestor.seq}`)
      await snapshots.saveChunks(ancestor.seq, options.snapshot())
    } else onStep('the snapshot is already stored')
    return { epoch: getEpoch(info) }
  })
}

/**
 * Creates the stream. A server confirms that it deleted a stream before it has removed the files; until then it refuses a
 * new stream of this name.
 * @throws StartError `LOG_UNREACHABLE`
 */
async function createStoredStream(jsm: JetStreamManager, options: SuccessorOptions): Promise<void> {
  const { service, stream, ancestor, onStep } = options
  const start = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await createStream(jsm, options, ancestor))
    } catch (error) {
      if (!(error instanceof JetStreamApiError && error.code === STORE_FAILED_CODE)) throw error
      if (performance.now() - start > STORE_TIMEOUT_MS)
        throw new StartError(
          'LOG_UNREACHABLE',
          `${service}: the NATS servers cannot store stream ${stream}; their logs state why`,
        )
      if (attempt === 1) onStep?.(`waiting until the servers can store stream ${stream}`)
      await delay(RETRY_INTERVAL_MS)
    }
  }
}

function isSuccessor(info: StreamInfo, { epoch, seq, check }: LogAncestor): boolean {
  const ancestor = getAncestor(info)
  return ancestor?.epoch === epoch && ancestor.seq === seq && ancestor.check === check
}

/** @throws StartError `LOG_UNREACHABLE` */
async function waitForQuorum(jsm: JetStreamManager, { service, stream }: InspectOptions): Promise<StreamInfo> {
  for (const deadline = performance.now() + QUORUM_TIMEOUT_MS; ; await delay(RETRY_INTERVAL_MS)) {
    const info = await findStream(jsm, stream)
    if (info && hasQuorum(info)) return info
    if (performance.now() > deadline)
      throw new StartError(
        'LOG_UNREACHABLE',
        `${service}: a majority of the servers of stream ${stream} is unreachable`,
      )
  }
}

/** Runs a task with a connection, which is closed at its end. @throws StartError */
async function withManager<T>(
  service: string,
  nats: NatsOptions,
  run: (parts: { readonly nc: NatsConnection; readonly jsm: JetStreamManager }) => Promise<T>,
): Promise<T> {
  const { nc } = await connectNats(service, nats, () => {})
  try {
    return await run({ nc, jsm: await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 }) })
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError('LOG_UNREACHABLE', `${service}: ${(error as Error).message}`)
  } finally {
    await nc.close()
  }
}

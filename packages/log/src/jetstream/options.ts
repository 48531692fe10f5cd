import type { LogState, StateMachine } from '../log.ts'
import type { LogAvailability } from '../availability.ts'
import type { SkipReason } from '../order/frame-assembler.ts'
import type { Logger } from '../logger.ts'
import type { LogServers } from '../status/log-servers.ts'

/** Options of the connection to the NATS servers. */
export interface NatsOptions {
  /** `nats://host:port`. A user and a password may precede the host. */
  readonly servers: readonly string[]
  /** Path of a file with the JWT and key of a user. */
  readonly credentials?: string
  /** Path of a file with the seed of an nkey. */
  readonly nkey?: string
  /** Path of a file with the trusted certificates (PEM). */
  readonly ca?: string
  /** Path of a file with the certificate of this node (PEM). */
  readonly cert?: string
  /** Path of a file with the private key of `cert` (PEM). */
  readonly key?: string
}

export interface JetStreamLogOptions {
  /** Service that owns the log. Its name is in the metadata of the stream and in error messages. */
  readonly service: string
  readonly stream: string
  /** Name of the cluster, which the stream must have; by default none. */
  readonly cluster?: string
  readonly nats: NatsOptions
  /** Number of servers that store the stream, if this node creates it. */
  readonly replicas: number
  /** Storage on these servers: their disks (default) or their memory. Memory is lost if more than half of them stop. */
  readonly storage?: 'file' | 'memory' | undefined
  readonly stateMachine: StateMachine
  readonly log: Logger
  /** Timeout of an append (ms). */
  readonly appendTimeout: number
  /**
   * Maximum time from the storage of an entry in the log until this node has applied it (ms); `append` waits for both.
   * Default: the time that remains of `appendTimeout`.
   */
  readonly applyTimeout?: number | undefined
  /**
   * Time for which the start of a node without state attempts to open its log (ms): servers that have just started may
   * not be ready. With 0, and for a node with state, it is one attempt. A start ends after 5 s without progress, unless
   * this time is longer. Default: 10 s.
   */
  readonly startTimeout?: number
  /**
   * Time for which the stream may seem to end before the last applied entry (ms). A server that was suspended reports
   * an old state for a moment. At the start it is also the time to wait for a snapshot that is new enough. Default:
   * 15 s.
   */
  readonly verifyTimeout?: number
  /** Maximum size of the body of an entry (bytes); default: 1 MiB. The limits of the servers must allow it. */
  readonly maxBody?: number
  /** Called for messages that every node skips, because they are no part of a frame. @param count number of them */
  onSkip?(reason: SkipReason, count: number): void
  /** Called after every change of the state, and after every reply about the stream (one per second). */
  onState?(state: LogState): void
  /** Called after every reply about the stream that a majority of its servers supports (one per second). */
  onServers?(servers: LogServers): void
  /**
   * True if the state machine can join a log only at the start of its process, because its threads know the epoch.
   */
  readonly restartsToJoin?: boolean | undefined
  /**
   * Called at the end of the start, and after every change.
   * @param isEmpty true until the first attachment of a node without state: it has nothing to read
   */
  onAvailability?(availability: LogAvailability, isEmpty: boolean): void
  /**
   * Called after the start if this node must restart, because it needs a snapshot or joins its first log. The error is
   * one line.
   */
  onFatal?(error: Error): void
}

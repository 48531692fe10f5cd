import type { LogState, StateMachine } from '../log.ts'
import type { Logger } from '../logger.ts'

/** Connection options of the NATS servers. */
export interface NatsOptions {
  /** `nats://host:port`. A user and a password may precede the host. */
  readonly servers: readonly string[]
  /** Files: the JWT and key of a user, or the seed of an nkey. */
  readonly credentials?: string
  readonly nkey?: string
  /** Files for TLS: the trusted certificates, and the certificate of this node with its key. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export interface JetStreamLogOptions {
  /** Service that owns the log. Its name is in the metadata of the stream and in error messages. */
  readonly service: string
  readonly stream: string
  readonly nats: NatsOptions
  /** Number of servers that store the stream, if this node creates it. */
  readonly replicas: number
  /** Storage on these servers: their disks (default), or their memory, which is lost with more than half of them. */
  readonly storage?: 'file' | 'memory' | undefined
  readonly stateMachine: StateMachine
  readonly log: Logger
  /** Timeout of an append (ms). */
  readonly appendTimeout: number
  /**
   * Time that a stored append waits for the state machine (ms), which may be slow. Default: the rest of
   * `appendTimeout`.
   */
  readonly applyTimeout?: number | undefined
  /** Timeout of the first connection, until JetStream is ready (ms). */
  readonly startTimeout?: number
  /**
   * Time for which the stream may look shorter than the applied entries (ms): a server that was suspended reports an
   * old state.
   */
  readonly verifyTimeout?: number
  /** Maximum size of the body of an entry (bytes). The limits of the servers must allow it. */
  readonly maxBody?: number
  /** Called on every change of the state. */
  onState?(state: LogState): void
  /** Called once if this node must not continue, because its state would differ from that of other nodes. */
  onFatal?(error: Error): void
}

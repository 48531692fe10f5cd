import type { LogState, StateMachine } from '../log.ts'
import type { Logger } from '../logger.ts'

/** Connection options of the NATS servers. */
export interface NatsOptions {
  /** `nats://host:port`; a name and a password may stand before the host. */
  readonly servers: readonly string[]
  /** Files: a user's JWT and key, or an nkey's seed. */
  readonly credentials?: string
  readonly nkey?: string
  /** Files for TLS: who is trusted, and the own certificate and its key. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export interface JetStreamLogOptions {
  /** Whose log it is: stands in the stream, and in messages. */
  readonly service: string
  readonly stream: string
  readonly nats: NatsOptions
  /** Number of servers that store the stream, if this node creates it. */
  readonly replicas: number
  /** On their disks, by default, or in their memory, which is gone with more than half of them. */
  readonly storage?: 'file' | 'memory' | undefined
  readonly stateMachine: StateMachine
  readonly log: Logger
  /** Timeout of an append (ms). */
  readonly appendTimeout: number
  /** Once the log has it, an append waits for the own view for so long (ms): where that may take its time. */
  readonly applyTimeout?: number | undefined
  /** How long the first connection may take, JetStream's being ready included (ms). */
  readonly startTimeout?: number
  /** How long the stream may look shorter than what was applied (ms): a server that stood still tells of it as it was. */
  readonly verifyTimeout?: number
  /** Largest body that is appended (bytes): what the servers' limits must allow. */
  readonly maxBody?: number
  /** Called on every change of the state. */
  onState?(state: LogState): void
  /** Called once when this node must not go on: what it would make of the log would be wrong. */
  onFatal?(error: Error): void
}

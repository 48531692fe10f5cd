import type { Socket } from 'node:net'
import type { AdapterHost, Endpoints } from './endpoint.ts'

/** Parts that all connections of the raw server adapter share. */
export interface RawAdapterHost extends AdapterHost {
  readonly endpoints: Endpoints
  /** Timeout of an idle connection (ms). */
  readonly keepAliveTimeout: number
  /** Bytes of unwritten replies at which the next requests wait. */
  readonly maxWriteBuffer: number
  /** Number that grows by 1 every 500 ms. */
  readonly tick: number
  /**
   * Passes a connection to Node permanently.
   * @param unread bytes that are not answered
   * @param ended true if no input follows
   */
  handOver(socket: Socket, unread: Buffer | undefined, ended: boolean): void
  /** Disconnects the client if it reads nothing for `sendTimeout`. */
  limitSending(socket: Socket): void
  /** Releases a connection that has become a stream. */
  release(socket: Socket): void
}

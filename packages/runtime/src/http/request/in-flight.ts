import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

// Node sets this on a socket from a request's head to the end of its reply.
const PENDING_REPLY = '_httpMessage'

/** Server property for the connections that the raw server adapter reads and that have sent something. */
export const RAW_CONNECTIONS = Symbol('raw connections')

/** A server that may have the raw server adapter. */
export interface RawServer extends Server {
  [RAW_CONNECTIONS]?: ReadonlyMap<Duplex, { readonly isAnswering: boolean }>
}

interface InFlightSocket extends Duplex {
  [PENDING_REPLY]?: ServerResponse | null
}

/** Returns the pending reply of a connection: a whole head has arrived, and the reply is not sent completely. */
export const getPendingReply = (socket: Duplex): ServerResponse | undefined =>
  (socket as InFlightSocket)[PENDING_REPLY] ?? undefined

/** True if a request of this connection waits for its reply from the raw server adapter or from Node. */
export const isInFlight = (server: RawServer, socket: Duplex): boolean =>
  server[RAW_CONNECTIONS]?.get(socket)?.isAnswering ?? getPendingReply(socket) !== undefined

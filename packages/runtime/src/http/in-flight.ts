import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

// Node sets this on a socket from a request's head to the end of its reply.
const PENDING_REPLY = '_httpMessage'

/** Socket property for the raw server adapter's state of a connection. */
export const RAW_CONNECTION = Symbol('raw connection')

interface InFlightSocket extends Duplex {
  [PENDING_REPLY]?: ServerResponse | null
  [RAW_CONNECTION]?: { readonly isAnswering: boolean } | undefined
}

/** Returns the pending reply of a connection: a whole head has arrived, and the reply is not sent completely. */
export const getPendingReply = (socket: Duplex): ServerResponse | undefined =>
  (socket as InFlightSocket)[PENDING_REPLY] ?? undefined

/** True if a request of this connection waits for its reply from the raw server adapter or from Node. */
export const isInFlight = (socket: Duplex): boolean =>
  (socket as InFlightSocket)[RAW_CONNECTION]?.isAnswering ?? getPendingReply(socket) !== undefined

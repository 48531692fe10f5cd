import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

// Node keeps it on a socket from a request's head to the end of its reply.
const REPLY = '_httpMessage'

/** Where a door keeps, on a socket, what it knows of a connection. */
export const DOOR = Symbol('door')

interface Connection extends Duplex {
  [REPLY]?: ServerResponse | null
  [DOOR]?: { readonly isAnswering: boolean } | undefined
}

/** The reply of Node's that a connection waits for: a whole head has arrived, and not everything has been sent. */
export const pendingReply = (socket: Duplex): ServerResponse | undefined => (socket as Connection)[REPLY] ?? undefined

/** Whether a connection waits for a reply, whoever makes it. */
export const isInFlight = (socket: Duplex): boolean =>
  (socket as Connection)[DOOR]?.isAnswering ?? pendingReply(socket) !== undefined

import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** On a request whose client waits for `100 Continue`: the reply to the request. */
const PENDING_CONTINUE = Symbol('expects 100-continue')

interface ExpectingMessage extends IncomingMessage {
  [PENDING_CONTINUE]?: ServerResponse | undefined
}

/** True if the client waits for `100 Continue` before it sends the body. */
export const isExpectingContinue = (message: ExpectingMessage): boolean =>
  message[PENDING_CONTINUE] !== undefined && !message.complete

/**
 * Calls `callback` when the earlier replies of the connection are sent. Never calls it after a stream, which has no
 * end.
 */
export function runAfterEarlierReplies(response: ServerResponse, callback: () => void): void {
  if (response.socket) callback()
  else response.once('socket', callback)
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Replaces `_read` of a message: sends `100 Continue`, and then reads as usual. */
function readBody(this: ExpectingMessage, size: number): void {
  const response = this[PENDING_CONTINUE]!
  this[PENDING_CONTINUE] = undefined
  delete (this as Partial<IncomingMessage>)._read
  // `100 Continue` is not sent after the head of the final reply, which announces the end of the connection.
  runAfterEarlierReplies(response, () => response.headersSent || response.writeContinue())
  this._read(size)
}

/**
 * Sends `100 Continue` only when a reader begins to read the body. A request that is refused by its head gets its final
 * reply instead, and its client sends no body (RFC 9110, 10.1.1).
 */
export function sendContinueOnRead(server: Server): void {
  server.on('checkContinue', (message: ExpectingMessage, response) => {
    // With this flag, Node would end each connection without a `100 Continue`, even if the whole body has arrived.
    // `isExpectingContinue` decides instead.
    ;(response as { _expect_continue?: boolean })._expect_continue = false
    if (hasBody(message)) {
      message[PENDING_CONTINUE] = response
      message._read = readBody
    }
    server.emit('request', message, response)
  })
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * Property of a request whose client waits for `100 Continue`. Its value is the response object of that request. The
 * property is removed when the reading of the body begins.
 */
const PENDING_CONTINUE = Symbol('expects 100-continue')

interface ExpectingMessage extends IncomingMessage {
  [PENDING_CONTINUE]?: ServerResponse | undefined
}

/** True if the client waits for `100 Continue` before it sends the body. */
export const isExpectingContinue = (message: ExpectingMessage): boolean =>
  message[PENDING_CONTINUE] !== undefined && !message.complete

/**
 * Calls `callback` when the earlier replies of the connection are sent. If an earlier reply is an endless stream
 * (server-sent events), `callback` is never called.
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
  // If the head of the final reply was already sent, `100 Continue` is omitted: that head has `Connection: close`.
  runAfterEarlierReplies(response, () => response.headersSent || response.writeContinue())
  this._read(size)
}

/**
 * Sends `100 Continue` only when a reader begins to read the body. A request that the service refuses because of its
 * headers, before it reads the body, gets its final reply instead, and its client sends no body (RFC 9110, 10.1.1).
 */
export function sendContinueOnRead(server: Server): void {
  server.on('checkContinue', (message: ExpectingMessage, response) => {
    // If this flag were true, Node would end each connection that got no `100 Continue`, even if the whole body has
    // arrived. `isExpectingContinue` decides instead.
    ;(response as { _expect_continue?: boolean })._expect_continue = false
    if (hasBody(message)) {
      message[PENDING_CONTINUE] = response
      message._read = readBody
    }
    server.emit('request', message, response)
  })
}

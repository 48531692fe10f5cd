import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** On a request whose client waits for `100 Continue`: its reply. */
const PENDING_CONTINUE = Symbol('expects 100-continue')

interface ExpectingMessage extends IncomingMessage {
  [PENDING_CONTINUE]?: ServerResponse | undefined
}

/** True if the client waits for `100 Continue` before it sends the body. */
export const isExpectingContinue = (message: ExpectingMessage): boolean =>
  message[PENDING_CONTINUE] !== undefined && !message.complete

/** Waits until the earlier replies are sent. After a stream, which has no end, it never resolves. */
export function waitForTurn(response: ServerResponse, then: () => void): void {
  if (response.socket) then()
  else response.once('socket', then)
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Reads like every message, but sends `100 Continue` first. */
function readBody(this: ExpectingMessage, size: number): void {
  const response = this[PENDING_CONTINUE]!
  this[PENDING_CONTINUE] = undefined
  delete (this as Partial<IncomingMessage>)._read
  // Never after the head of the final reply, which announces the end of the connection.
  waitForTurn(response, () => response.headersSent || response.writeContinue())
  this._read(size)
}

/**
 * Sends `100 Continue` only when a reader begins to read the body. A request that is refused by its head gets its final
 * reply instead, and its client sends no body (RFC 9110, 10.1.1).
 */
export function sendContinueOnRead(server: Server): void {
  server.on('checkContinue', (message: ExpectingMessage, response) => {
    // Node would end each connection without a 100, also if the whole body has arrived. `isExpectingContinue` decides
    // instead.
    ;(response as { _expect_continue?: boolean })._expect_continue = false
    if (hasBody(message)) {
      message[PENDING_CONTINUE] = response
      message._read = readBody
    }
    server.emit('request', message, response)
  })
}

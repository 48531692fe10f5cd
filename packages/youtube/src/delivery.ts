import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Lifecycle } from '@influencer-stats/runtime/service'
import type { Faults } from './core/faults.ts'
import { isGzipAccepted } from './core/negotiation.ts'
import { createReply, type ReplyMessage, type EncodedReply } from './encoded-reply.ts'

/** The response that a reply is written to, and the headers of its request. */
export interface ReplyRecipient {
  readonly response: ServerResponse
  /** The headers of the request. */
  readonly headers: IncomingHttpHeaders
  /** Additional headers, as alternating names and values. */
  readonly extra: readonly string[]
}

/** Sends replies to clients, subject to the active faults. */
export interface Delivery {
  deliver(recipient: ReplyRecipient, reply: EncodedReply, faults: Faults): void
}

function send({ response, extra }: ReplyRecipient, status: number, { head, body }: ReplyMessage): void {
  response.writeHead(status, [...head, ...extra])
  response.end(body)
}

function cutHalfway({ response, extra }: ReplyRecipient, { status, plain, text }: EncodedReply): void {
  response.writeHead(status, [...plain.head, ...extra])
  response.write(text.slice(0, text.length / 2), () => response.destroy())
}

export function createDelivery(lifecycle: Lifecycle): Delivery {
  const hold = createReplyHolder(lifecycle)

  function finish(recipient: ReplyRecipient, reply: EncodedReply, faults: Faults): void {
    const { response, headers } = recipient
    if (faults.hang) return hold(response, Infinity, () => response.destroy())
    if (faults.cut === 'before') return void response.destroy()
    if (faults.cut === 'halfway') return cutHalfway(recipient, reply)
    if (faults.malformed && reply.text !== '') {
      const half = createReply(reply.status, reply.text.slice(0, reply.text.length / 2))
      return send(recipient, reply.status, half.plain)
    }
    const zipped = reply.gzip && isGzipAccepted(headers['accept-encoding'] as string | undefined)
    send(recipient, reply.status, zipped ? reply.gzip!() : reply.plain)
  }

  return {
    deliver(recipient, reply, faults) {
      if (!faults.latencyMs) return finish(recipient, reply, faults)
      hold(recipient.response, faults.latencyMs, () => finish(recipient, reply, faults))
    },
  }
}

/**
 * Creates a function that delays a response, possibly forever. When the service drains, all delays end at once: a drain
 * waits for every request in progress, and a call without a reply would delay the exit until the process is killed.
 */
function createReplyHolder({ drain }: Lifecycle) {
  const held = new Map<ServerResponse, () => void>()
  drain.addEventListener('abort', () => {
    for (const release of held.values()) release()
  })

  return function hold(response: ServerResponse, ms: number, then: () => void): void {
    const timer = ms === Infinity ? undefined : setTimeout(release, ms)
    function forget(): void {
      clearTimeout(timer)
      held.delete(response)
    }
    function release(): void {
      forget()
      response.off('close', forget)
      then()
    }
    held.set(response, release)
    response.once('close', forget)
  }
}

import { jetstream } from '@nats-io/jetstream'
import { createInbox, type Msg, type NatsConnection } from '@nats-io/transport-node'
import { isNoResponders } from './stream/no-responders.ts'
import { toSubject } from './stream/stream.ts'

/** Result of an attempt to send a frame to the log. */
export type SendResult =
  | { readonly kind: 'stored'; readonly seq: number }
  /** The frame is not in the log and will not appear there. */
  | { readonly kind: 'not-sent'; readonly cause: unknown }
  /** The frame may be in the log, now or later. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

export interface Sender {
  /**
   * Publishes the messages of one frame to the stream; the server stores all or none. The messages have no id for
   * duplicate detection by the servers, because nodes ignore copies of a frame.
   */
  send(parts: readonly Buffer[]): Promise<SendResult>
  /** Settles frames of one message without an acknowledgement as `unknown`. Larger frames end with their timeout. */
  close(): void
}

// Timeout of an acknowledgement, which usually takes some ms. If the stream's leader fails, none arrives.
const ACK_TIMEOUT_MS = 2_000
/** Lowest throughput of disks and networks for which the timeout is long enough (bytes per ms). */
const MIN_BYTES_PER_MS = 4_096
const NO_RESPONDERS_STATUS = 503

/**
 * Creates the sender. For a frame of one message, it publishes the message and reads the acknowledgement itself. The
 * client's own publish function takes three times as long: for each message it creates headers and an error with a
 * stack.
 */
export function createSender(nc: NatsConnection, stream: string): Sender {
  const js = jetstream(nc, { timeout: ACK_TIMEOUT_MS })
  const subject = toSubject(stream)
  const inbox = createInbox()
  /** Callbacks of messages that wait for an acknowledgement, by the last token of the reply subject. */
  const pendingAcks = new Map<string, (result: SendResult) => void>()
  let count = 0
  const subscription = nc.subscribe(`${inbox}.*`, {
    callback(error, message) {
      // `error` is set if this user may not receive replies, or if the connection ends. The waiting messages then end
      // with their timeout.
      if (!error) pendingAcks.get(message.subject.slice(inbox.length + 1))?.(parseAck(message))
    },
  })

  function sendMessage(message: Buffer): Promise<SendResult> {
    return new Promise((resolve) => {
      const token = String(++count)
      const settle = (result: SendResult) => {
        clearTimeout(timer)
        pendingAcks.delete(token)
        resolve(result)
      }
      const onTimeout = () =>
        settle({ kind: 'unknown', cause: new Error('timeout while waiting for the acknowledgement') })
      const timer = setTimeout(onTimeout, getAckTimeout([message]))
      pendingAcks.set(token, settle)
      try {
        nc.publish(subject, message, { reply: `${inbox}.${token}` })
      } catch (cause) {
        settle({ kind: 'unknown', cause })
      }
    })
  }

  async function sendParts(parts: readonly Buffer[]): Promise<SendResult> {
    try {
      const timeout = getAckTimeout(parts)
      const batch = await js.startBatch(subject, parts[0], { timeout })
      for (const part of parts.slice(1, -1)) batch.add(subject, part)
      const { seq } = await batch.commit(subject, parts.at(-1), { timeout })
      return { kind: 'stored', seq }
    } catch (cause) {
      // `not-sent` if no server received the request: the stream then has no leader at present.
      return { kind: isNoResponders(cause) ? 'not-sent' : 'unknown', cause }
    }
  }

  return {
    send: (parts) => (parts.length === 1 ? sendMessage(parts[0]!) : sendParts(parts)),
    close() {
      subscription.unsubscribe()
      for (const settle of pendingAcks.values()) settle({ kind: 'unknown', cause: new Error('the log was closed') })
    },
  }
}

function parseAck(message: Msg): SendResult {
  const { data } = message
  if (data.length === 0 && message.headers?.code === NO_RESPONDERS_STATUS)
    return { kind: 'not-sent', cause: new Error('no responders: the stream has no leader at present') }
  try {
    const { seq, error } = message.json<{ seq?: number; error?: { description: string } }>()
    if (seq !== undefined && seq > 0 && !error) return { kind: 'stored', seq }
    return { kind: 'unknown', cause: new Error(error?.description ?? 'the acknowledgement has no sequence') }
  } catch (cause) {
    return { kind: 'unknown', cause }
  }
}

const getAckTimeout = (parts: readonly Buffer[]) =>
  ACK_TIMEOUT_MS + parts.reduce((sum, { length }) => sum + length, 0) / MIN_BYTES_PER_MS

import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { Message } from '../order/joiner.ts'
import { fetchBatch, toBuffer } from './fetch.ts'
import { liveSubjectOf } from './stream.ts'

export interface ReaderOptions {
  readonly nc: NatsConnection
  readonly jsm: JetStreamManager
  readonly stream: string
  /** The first place that is wanted. */
  readonly from: number
  /** Takes messages in their order, each once. While it gives a promise no more are asked for. */
  onMessages(messages: readonly Message[]): Promise<void> | undefined
  /**
   * Called each second with the state of the stream. Returns true if that state counts, which needs a quorum.
   * @param sentAt time of the request (ms of `steadyNow`)
   * @throws Error if the stream must not be followed
   */
  onInfo(info: StreamInfo, sentAt: number): boolean
  onKnown(known: number): void
  onFatal(error: Error): void
}

/** What comes next is not there any more: a snapshot is needed, which is loaded at a start. */
class TrimmedError extends Error {
  readonly code = 'LOG_TRIMMED'
}

/** Follows a stream. */
export interface Reader {
  /** The last place that is known to exist. */
  readonly known: number
  /** So far there are messages. */
  know(seq: number): void
  /** Hands over nothing more, and goes on. */
  hold(): void
  release(): void
  close(): void
}

// What the servers tell of live may be lost, and comes some milliseconds after an acknowledgement.
const LIVE_MAY_TAKE = 25
const LOOK_EVERY = 1_000
const BATCH = 1_024
const BATCH_BYTES = 4 * 1_024 * 1_024
/** Live messages that are kept while older ones are being fetched (bytes); what is more is fetched, too. */
const MOST_EARLY = 16 * 1_024 * 1_024

/**
 * Follows a stream by what the servers tell of it live, and fetches what was missed: half as dear as a consumer, which
 * is memory on one server and stands still for seconds when that one goes.
 */
export function createReader({ nc, jsm, stream, from, onMessages, onInfo, onKnown, onFatal }: ReaderOptions): Reader {
  let next = from
  let known = from - 1
  let fetching: Promise<void> | undefined
  let isClosed = false
  let isHeld = false
  let soon: NodeJS.Timeout | undefined
  const early = new Map<number, Message>()
  let earlyBytes = 0

  function know(seq: number): void {
    if (seq <= known) return
    known = seq
    onKnown(known)
    if (next <= known && !fetching && !isHeld) soon ??= setTimeout(fetch, LIVE_MAY_TAKE)
  }

  function keepEarly(message: Message): void {
    if (early.has(message.seq) || earlyBytes + message.data.length > MOST_EARLY) return
    early.set(message.seq, message)
    earlyBytes += message.data.length
  }

  function dropEarly(seq: number): void {
    earlyBytes -= early.get(seq)!.data.length
    early.delete(seq)
  }

  /** Hands over what is next among those that came, and keeps what is early. */
  function take(messages: readonly Message[]): Promise<void> | undefined {
    const wanted: Message[] = []
    for (const message of messages) {
      if (message.seq !== next) continue
      next++
      wanted.push(message)
    }
    for (let message = early.get(next); message; message = early.get(next)) {
      dropEarly(next++)
      wanted.push(message)
    }
    return wanted.length > 0 ? onMessages(wanted) : undefined
  }

  const live = nc.subscribe(liveSubjectOf(stream), {
    callback(error, message) {
      if (error || isClosed) return
      const one = liveMessage(message)
      if (one.seq > known) onKnown((known = one.seq))
      if (one.seq > next || fetching || isHeld) {
        keepEarly(one)
        if (!fetching && !isHeld) soon ??= setTimeout(fetch, LIVE_MAY_TAKE)
        return
      }
      const busy = take([one])
      // What comes meanwhile is fetched, or waits among the early ones: nothing piles up without a bound.
      if (busy) fetching = busy.then(() => catchUp()).finally(ended)
    },
  })

  function fetch(): void {
    soon = undefined
    // It has come meanwhile.
    if (next > known || fetching || isClosed || isHeld) return
    fetching = catchUp().finally(ended)
  }

  function ended(): void {
    fetching = undefined
    if (next <= known && !isClosed && !isHeld) soon ??= setTimeout(fetch, LIVE_MAY_TAKE)
  }

  /** Until nothing is missed that is known of, or it cannot be had at present. */
  async function catchUp(): Promise<void> {
    await take([])
    while (next <= known && !isClosed && !isHeld) {
      const before = next
      const batch = await fetchBatch(jsm, stream, { seq: next, batch: BATCH, max_bytes: BATCH_BYTES })
      if (isHeld) break
      // The first one is the next that exists: less than that was trimmed.
      if (batch[0] && batch[0].seq > next) return onFatal(new TrimmedError(`it was trimmed up to ${batch[0].seq}`))
      await take(batch)
      if (next === before) break
    }
    for (const seq of early.keys()) if (seq < next) dropEarly(seq)
  }

  async function look(): Promise<void> {
    if (isClosed) return
    const sentAt = steadyNow()
    let info: StreamInfo
    try {
      info = await jsm.streams.info(stream)
    } catch {
      return
    }
    if (isClosed) return
    try {
      if (onInfo(info, sentAt)) know(info.state.last_seq)
    } catch (error) {
      onFatal(error as Error)
    }
  }

  const timer = setInterval(() => void look(), LOOK_EVERY)
  return {
    get known() {
      return known
    },
    know,
    hold() {
      isHeld = true
      // What came from another stream must not be taken for this one's.
      for (const seq of early.keys()) dropEarly(seq)
    },
    release() {
      isHeld = false
      for (const seq of early.keys()) dropEarly(seq)
      fetch()
    },
    close() {
      isClosed = true
      clearInterval(timer)
      clearTimeout(soon)
      live.unsubscribe()
    },
  }
}

function liveMessage({ headers, data }: Msg): Message {
  return {
    seq: Number(headers!.get('Nats-Sequence')),
    at: Date.parse(headers!.get('Nats-Time-Stamp')),
    data: toBuffer(data),
  }
}

import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { LogMessage } from '../order/frame-assembler.ts'
import { fetchBatch, toBuffer } from './fetch-batch.ts'
import { toLiveSubject } from './stream.ts'

export interface LogReaderOptions {
  readonly nc: NatsConnection
  readonly jsm: JetStreamManager
  readonly stream: string
  /** The first place that is wanted. */
  readonly from: number
  /** Takes messages in their order, each once. While it gives a promise no more are asked for. */
  onMessages(messages: readonly LogMessage[]): Promise<void> | undefined
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
class LogTrimmedError extends Error {
  readonly code = 'LOG_TRIMMED'
}

/** Follows a stream. */
export interface LogReader {
  /** The last place that is known to exist. */
  readonly known: number
  /** So far there are messages. */
  setKnown(seq: number): void
  /** Hands over nothing more, and goes on. */
  pause(): void
  resume(): void
  close(): void
}

// What the servers tell of live may be lost, and comes some milliseconds after an acknowledgement.
const LIVE_DELAY_MS = 25
const POLL_INTERVAL_MS = 1_000
const BATCH_MESSAGES = 1_024
const BATCH_BYTES = 4 * 1_024 * 1_024
/** Live messages that are kept while older ones are being fetched (bytes); what is more is fetched, too. */
const MAX_EARLY_BYTES = 16 * 1_024 * 1_024

/**
 * Follows a stream by what the servers tell of it live, and fetches what was missed: half as dear as a consumer, which
 * is memory on one server and stands still for seconds when that one goes.
 */
export function createLogReader({
  nc,
  jsm,
  stream,
  from,
  onMessages,
  onInfo,
  onKnown,
  onFatal,
}: LogReaderOptions): LogReader {
  let next = from
  let known = from - 1
  let fetching: Promise<void> | undefined
  let isClosed = false
  let isPaused = false
  let fetchTimer: NodeJS.Timeout | undefined
  const early = new Map<number, LogMessage>()
  let earlyBytes = 0

  function setKnown(seq: number): void {
    if (seq <= known) return
    known = seq
    onKnown(known)
    if (next <= known && !fetching && !isPaused) fetchTimer ??= setTimeout(startFetch, LIVE_DELAY_MS)
  }

  function addEarly(message: LogMessage): void {
    if (early.has(message.seq) || earlyBytes + message.data.length > MAX_EARLY_BYTES) return
    early.set(message.seq, message)
    earlyBytes += message.data.length
  }

  function dropEarly(seq: number): void {
    earlyBytes -= early.get(seq)!.data.length
    early.delete(seq)
  }

  /** Hands over what is next among those that came, and keeps what is early. */
  function deliver(messages: readonly LogMessage[]): Promise<void> | undefined {
    const ready: LogMessage[] = []
    for (const message of messages) {
      if (message.seq !== next) continue
      next++
      ready.push(message)
    }
    for (let message = early.get(next); message; message = early.get(next)) {
      dropEarly(next++)
      ready.push(message)
    }
    return ready.length > 0 ? onMessages(ready) : undefined
  }

  const live = nc.subscribe(toLiveSubject(stream), {
    callback(error, message) {
      if (error || isClosed) return
      const one = toLogMessage(message)
      if (one.seq > known) onKnown((known = one.seq))
      if (one.seq > next || fetching || isPaused) {
        addEarly(one)
        if (!fetching && !isPaused) fetchTimer ??= setTimeout(startFetch, LIVE_DELAY_MS)
        return
      }
      const delivery = deliver([one])
      // What comes meanwhile is fetched, or waits among the early ones: nothing piles up without a bound.
      if (delivery) fetching = delivery.then(() => catchUp()).finally(onFetchEnd)
    },
  })

  function startFetch(): void {
    fetchTimer = undefined
    // It has come meanwhile.
    if (next > known || fetching || isClosed || isPaused) return
    fetching = catchUp().finally(onFetchEnd)
  }

  function onFetchEnd(): void {
    fetching = undefined
    if (next <= known && !isClosed && !isPaused) fetchTimer ??= setTimeout(startFetch, LIVE_DELAY_MS)
  }

  /** Until nothing is missed that is known of, or it cannot be had at present. */
  async function catchUp(): Promise<void> {
    await deliver([])
    while (next <= known && !isClosed && !isPaused) {
      const before = next
      const batch = await fetchBatch(jsm, stream, { seq: next, batch: BATCH_MESSAGES, max_bytes: BATCH_BYTES })
      if (isPaused) break
      // The first one is the next that exists: less than that was trimmed.
      if (batch[0] && batch[0].seq > next) return onFatal(new LogTrimmedError(`it was trimmed up to ${batch[0].seq}`))
      await deliver(batch)
      if (next === before) break
    }
    for (const seq of early.keys()) if (seq < next) dropEarly(seq)
  }

  async function pollInfo(): Promise<void> {
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
      if (onInfo(info, sentAt)) setKnown(info.state.last_seq)
    } catch (error) {
      onFatal(error as Error)
    }
  }

  const timer = setInterval(() => void pollInfo(), POLL_INTERVAL_MS)
  return {
    get known() {
      return known
    },
    setKnown,
    pause() {
      isPaused = true
      // What came from another stream must not be taken for this one's.
      for (const seq of early.keys()) dropEarly(seq)
    },
    resume() {
      isPaused = false
      for (const seq of early.keys()) dropEarly(seq)
      startFetch()
    },
    close() {
      isClosed = true
      clearInterval(timer)
      clearTimeout(fetchTimer)
      live.unsubscribe()
    },
  }
}

function toLogMessage({ headers, data }: Msg): LogMessage {
  return {
    seq: Number(headers!.get('Nats-Sequence')),
    at: Date.parse(headers!.get('Nats-Time-Stamp')),
    data: toBuffer(data),
  }
}

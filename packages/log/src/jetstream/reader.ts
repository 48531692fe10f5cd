import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { LogMessage } from '../order/frame-assembler.ts'
import { fetchBatch, toBuffer } from './fetch-batch.ts'
import { isStreamMissing, toLiveSubject } from './stream/stream.ts'

export interface LogReaderOptions {
  readonly nc: NatsConnection
  readonly jsm: JetStreamManager
  readonly stream: string
  /** First sequence to read. */
  readonly from: number
  /**
   * Receives messages in order, each once. If it returns a promise, the reader delivers no more until the promise
   * resolves.
   */
  onMessages(messages: readonly LogMessage[]): Promise<void> | undefined
  /**
   * Called each second with the state of the stream. Returns true if a quorum supports that state; otherwise the
   * reader ignores it.
   * @param sentAt time of the request (ms of `steadyNow`)
   * @throws Error if the stream must not be followed
   */
  onInfo(info: StreamInfo, sentAt: number): boolean
  /** Called each second while the stream does not exist. */
  onMissing(): void
  /** Called when the last known sequence grows. */
  onKnown(known: number): void
  onFatal(error: Error): void
}

/** The next message was trimmed, so the node stops. It loads a snapshot at its next start. */
class LogTrimmedError extends Error {
  readonly code = 'LOG_TRIMMED'
}

/** Delivers the messages of a stream in order. */
export interface LogReader {
  /** Last sequence that is known to exist. */
  readonly known: number
  /** Records that the stream has messages up to `seq`. */
  setKnown(seq: number): void
  /** Stops the delivery of messages until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

// A missing message is fetched after this delay (ms). Live messages may be lost, but usually they are only some
// milliseconds late.
const LIVE_DELAY_MS = 25
/** Interval of the requests for the state of the stream (ms). */
const POLL_INTERVAL_MS = 1_000
// Maximum size of one fetch.
const BATCH_MESSAGES = 1_024
const BATCH_BYTES = 4 * 1_024 * 1_024
/**
 * Maximum size of the live messages that wait in memory for their delivery (bytes). Further live messages are dropped and
 * fetched later.
 */
const MAX_EARLY_BYTES = 16 * 1_024 * 1_024

/**
 * Follows a stream: receives the messages that the servers republish live, and fetches the missing ones. This costs
 * half as much as a JetStream consumer. The state of a consumer is in the memory of one server, so the consumer stops
 * for seconds when that server fails.
 */
export function createLogReader({
  nc,
  jsm,
  stream,
  from,
  onMessages,
  onInfo,
  onMissing,
  onKnown,
  onFatal,
}: LogReaderOptions): LogReader {
  /** Sequence of the next message to deliver. */
  let next = from
  let known = from - 1
  let fetching: Promise<void> | undefined
  let isClosed = false
  let isPaused = false
  let fetchTimer: NodeJS.Timeout | undefined
  /**
   * Live messages that cannot be delivered yet, by sequence: an older one is missing, a delivery or a fetch runs, or the
   * reader is paused.
   */
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

  /** Delivers the messages that follow the last delivered one without a gap, then early ones that follow these. */
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
      const logMessage = toLogMessage(message)
      if (logMessage.seq > known) onKnown((known = logMessage.seq))
      if (logMessage.seq > next || fetching || isPaused) {
        addEarly(logMessage)
        if (!fetching && !isPaused) fetchTimer ??= setTimeout(startFetch, LIVE_DELAY_MS)
        return
      }
      const delivery = deliver([logMessage])
      // Until the delivery resolves, new messages wait in `early`, or are dropped and fetched later. So the memory is
      // bounded.
      if (delivery) fetching = delivery.then(() => catchUp()).finally(onFetchEnd)
    },
  })

  function startFetch(): void {
    fetchTimer = undefined
    // The message may have arrived meanwhile.
    if (next > known || fetching || isClosed || isPaused) return
    fetching = catchUp().finally(onFetchEnd)
  }

  function onFetchEnd(): void {
    fetching = undefined
    if (next <= known && !isClosed && !isPaused) fetchTimer ??= setTimeout(startFetch, LIVE_DELAY_MS)
  }

  /** Fetches messages until all known ones are delivered, or none can be fetched at present. */
  async function catchUp(): Promise<void> {
    await deliver([])
    while (next <= known && !isClosed && !isPaused) {
      const before = next
      const batch = await fetchBatch(jsm, stream, { seq: next, batch: BATCH_MESSAGES, max_bytes: BATCH_BYTES })
      if (isPaused) break
      // The reply begins with the first message that exists from `next` on. If that message is later than `next`, the
      // messages before it were trimmed.
      if (batch[0] && batch[0].seq > next)
        return onFatal(new LogTrimmedError(`its entries before ${batch[0].seq} were removed`))
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
    } catch (error) {
      if (!isClosed && isStreamMissing(error)) onMissing()
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
      // The stream may have been replaced: messages of another stream must not be delivered as messages of this one.
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

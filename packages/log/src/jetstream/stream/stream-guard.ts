import { pause as wait } from '@influencer-stats/runtime/async/retry'
import { createSingleFlight } from '@influencer-stats/runtime/async/single-flight'
import type { JetStreamManager } from '@nats-io/jetstream'
import { verifyStream, LogLostError, RETRY_INTERVAL_MS, type LogIdentity } from './verify-stream.ts'

export interface StreamGuardOptions {
  readonly jsm: JetStreamManager
  readonly stream: string
  /** Time for which the stream may seem to end before the last applied entry (ms): see `verifyStream`. */
  readonly verifyTimeout?: number
  /** Returns the epoch, sequence and checksum that the stream must match. */
  getIdentity(): LogIdentity
  /** Stops the delivery of messages. */
  pause(): void
  /** Continues the delivery of messages. */
  resume(): void
  onFatal(error: Error): void
}

/** Pauses the delivery of messages while it verifies that the stream is still the same. */
export interface StreamGuard {
  /** Starts a check. Called after a reconnection, or if the info of the stream contradicts the applied entries. */
  verify(): void
  close(): void
}

export function createStreamGuard({
  jsm,
  stream,
  verifyTimeout,
  getIdentity,
  pause,
  resume,
  onFatal,
}: StreamGuardOptions): StreamGuard {
  const closing = new AbortController()
  const { signal } = closing
  /** True if `verify` was called during the current check, which must then run again. */
  let isRequested = false

  async function run(): Promise<void> {
    pause()
    while (!signal.aborted) {
      isRequested = false
      try {
        await verifyStream(jsm, stream, getIdentity(), { verifyTimeout, signal })
        if (isRequested) continue
        return resume()
      } catch (error) {
        if (error instanceof LogLostError) return onFatal(error)
        // The stream cannot be verified at present. The node serves reads with the applied entries meanwhile.
        await wait(RETRY_INTERVAL_MS, signal)
      }
    }
  }

  const runOnce = createSingleFlight(run)
  return {
    verify() {
      isRequested = true
      void runOnce()
    },
    close: () => closing.abort(),
  }
}

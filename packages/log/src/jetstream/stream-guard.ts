import type { JetStreamManager } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import { verifyStream, LogReplacedError, RETRY_INTERVAL_MS, type LogIdentity } from './verify-stream.ts'

export interface StreamGuardOptions {
  readonly jsm: JetStreamManager
  readonly stream: string
  /** Time for which the stream may look shorter than before (ms): see `verifyStream`. */
  readonly verifyTimeout?: number
  /** Returns the epoch, sequence and checksum that the stream must match. */
  getIdentity(): LogIdentity
  /** Stops the delivery of messages. */
  pause(): void
  /** Continues the delivery of messages. */
  resume(): void
  onFatal(error: Error): void
}

/** Pauses the delivery of messages until the stream is verified to be the same. */
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
  let running: Promise<void> | undefined
  /** True if `verify` was called during the present check. */
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
        if (error instanceof LogReplacedError) return onFatal(error)
        // No server can verify the stream at present. Reads continue with the applied entries.
        await delay(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  return {
    verify() {
      isRequested = true
      running ??= run().finally(() => (running = undefined))
    },
    close: () => closing.abort(),
  }
}

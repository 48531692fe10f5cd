import type { JetStreamManager } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import { verifyStream, LogReplacedError, RETRY_INTERVAL_MS, type LogIdentity } from './verify-stream.ts'

export interface StreamGuardOptions {
  readonly jsm: JetStreamManager
  readonly stream: string
  /** How long a stream may look shorter than it was (ms): see `checkGround`. */
  readonly verifyTimeout?: number
  /** How far this node is. */
  getIdentity(): LogIdentity
  /** Nothing more is to be applied. */
  pause(): void
  /** It may go on. */
  resume(): void
  onFatal(error: Error): void
}

/** Lets nothing be applied while it is not known that the stream is still the same. */
export interface StreamGuard {
  /** The connection came back, or what was heard of the stream cannot be. */
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
  /** Whether it was suspected again while it was looked at. */
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
        // No server can be asked: reads go on, of what is there.
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

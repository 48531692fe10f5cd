import type { JetStreamManager } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import { checkGround, LogReplacedError, RETRY_EVERY, type Ground } from './check.ts'

export interface GuardOptions {
  readonly jsm: JetStreamManager
  readonly stream: string
  /** How long a stream may look shorter than it was (ms): see `checkGround`. */
  readonly patience?: number
  /** How far this node is. */
  ground(): Ground
  /** Nothing more is to be applied. */
  hold(): void
  /** It may go on. */
  release(): void
  onFatal(error: Error): void
}

/** Lets nothing be applied while it is not known that the stream is still the same. */
export interface Guard {
  /** The connection came back, or what was heard of the stream cannot be. */
  suspect(): void
  close(): void
}

export function createGuard({ jsm, stream, patience, ground, hold, release, onFatal }: GuardOptions): Guard {
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined
  /** Whether it was suspected again while it was looked at. */
  let isStale = false

  async function run(): Promise<void> {
    hold()
    while (!signal.aborted) {
      isStale = false
      try {
        await checkGround(jsm, stream, ground(), { patience, signal })
        if (isStale) continue
        return release()
      } catch (error) {
        if (error instanceof LogReplacedError) return onFatal(error)
        // No server can be asked: reads go on, of what is there.
        await delay(RETRY_EVERY, undefined, { signal }).catch(() => {})
      }
    }
  }

  return {
    suspect() {
      isStale = true
      running ??= run().finally(() => (running = undefined))
    },
    close: () => closing.abort(),
  }
}

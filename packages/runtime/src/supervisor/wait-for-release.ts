import { setTimeout as delay } from 'node:timers/promises'
import type { StartError } from '../errors/common-errors.ts'

export interface ReleaseOptions {
  /** Code of the error with which an attempt fails while a predecessor holds the resource. */
  readonly code: string
  /** Time to wait (ms). */
  readonly timeout: number
  /** Time between two attempts (ms). */
  readonly interval: number
  readonly stopped: AbortSignal
  /** Returns what holds the start, such as `port 80 is in use`. */
  describe(error: StartError): string
  /** Called once, if the first attempt fails. */
  onWait(reason: string): void
}

/**
 * Repeats an attempt until a predecessor that is ending has released what it needs.
 * @throws the error of the last attempt
 */
export async function waitForRelease<T>(attempt: () => Promise<T>, options: ReleaseOptions): Promise<T> {
  const { code, timeout, interval, stopped, describe, onWait } = options
  const deadline = Date.now() + timeout
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await attempt()
    } catch (error) {
      if ((error as StartError).code !== code || Date.now() >= deadline || stopped.aborted) throw error
      if (isFirst) onWait(`${describe(error as StartError)}; waiting up to ${Math.ceil(timeout / 1_000)} s for it`)
      await delay(interval)
    }
  }
}

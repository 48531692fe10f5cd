import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { onTestFinished, vi } from 'vitest'
import { QuotaMeter } from '../../src/quota/quota-meter.ts'

const STEP_MS = 1_000
/** Turns of the event loop in which a timer starts a call, and in which the result of one is applied. */
const SETTLING_TURNS = 4
const YOUTUBE_PATH = '/youtube/'

/**
 * The time of all services of this process, in steps of a second. It stands still while a call to YouTube runs, so a day
 * takes no longer than its work.
 */
export class SimulatedTime {
  /** Called for each request to YouTube. @param at simulated time (ms since 1970) */
  onRequest: (url: URL, at: number) => void = () => {}
  /** Number of calls to YouTube in progress. */
  #running = 0

  /** @param start ms since 1970 */
  constructor(start: number) {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
      now: start,
    })
    onTestFinished(() => void vi.useRealTimers())
    this.#countCalls()
    this.#listen('undici:request:create', ({ origin, path }) => this.onRequest(new URL(path, origin), Date.now()))
    const endCall = () => void this.#running--
    this.#listen('undici:request:trailers', endCall)
    this.#listen('undici:request:error', endCall)
  }

  /** A call begins with its unit: the count is stored before the request. */
  #countCalls(): void {
    const { spend } = QuotaMeter.prototype
    const beginCall = () => void this.#running++
    const spy = vi.spyOn(QuotaMeter.prototype, 'spend').mockImplementation(function (this: QuotaMeter, kind) {
      const saving = spend.call(this, kind)
      beginCall()
      return saving
    })
    onTestFinished(() => spy.mockRestore())
  }

  #listen(channel: string, listener: (request: { origin: string; path: string }) => void): void {
    const onMessage = (message: unknown) => {
      const { request } = message as { request: { origin: string; path: string } }
      if (request.path.startsWith(YOUTUBE_PATH)) listener(request)
    }
    subscribe(channel, onMessage)
    onTestFinished(() => void unsubscribe(channel, onMessage))
  }

  /** Runs everything that is due until a time (ms since 1970). */
  async runUntil(end: number): Promise<void> {
    while (Date.now() < end) {
      vi.advanceTimersByTime(Math.min(STEP_MS, end - Date.now()))
      for (let turns = 0; turns < SETTLING_TURNS; turns = this.#running > 0 ? 0 : turns + 1) await nextTurn()
    }
  }

  /** Waits for a promise, which may wait for timers: meanwhile the time runs no faster than the real one. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    let isDone = false
    const done = promise.finally(() => (isDone = true))
    done.catch(() => {})
    for (let last = process.hrtime.bigint(); !isDone;) {
      await nextTurn()
      const now = process.hrtime.bigint()
      if (now - last < 1_000_000n) continue
      last = now
      vi.advanceTimersByTime(1)
    }
    return done
  }
}

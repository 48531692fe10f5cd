import { isClosing, type Entry, type Event } from '../core/event.ts'
import type { History } from '../history/history.ts'
import type { Put } from '../messages.ts'
import type { LagLimits } from './broker.ts'
import { Lag } from './lag.ts'

export interface SequencerOptions {
  readonly history: History
  readonly lag: LagLimits
  /** Takes entries to wherever there are streams; resolves once they have arrived. */
  deliver(entries: readonly Entry[]): void | Promise<unknown>
}

/** What is done once an entry has its place. */
interface Waiting {
  readonly entries: readonly Entry[]
  readonly kept: PromiseWithResolvers<number[]>
  /** Called when the entries have arrived everywhere, or never will. */
  arrived(): void
}

/**
 * The one place where values get their order. All that comes within a turn of the event loop is kept and delivered
 * together: 129,000 single messages/s go to four threads, 722,000 in arrays of 50.
 */
export class Sequencer {
  readonly #options: SequencerOptions
  readonly #lag: Lag
  #seq: number
  #waiting: Waiting[] = []
  #flushing = false
  #idle: Promise<void> = Promise.resolve()

  constructor(options: SequencerOptions) {
    this.#options = options
    this.#lag = new Lag(options.lag)
    this.#seq = options.history.seq
  }

  /** Values put and not yet delivered everywhere. */
  get lag(): number {
    return this.#lag.values
  }

  /** Resolves with the values' places once they are kept. @throws Problem `FALLEN_BEHIND` */
  async publish(puts: readonly Put[]): Promise<number[]> {
    const arrived = this.#lag.add(puts)
    const at = Date.now()
    return this.#queue(
      puts.map(([topic, value, more]) => {
        const event = { seq: ++this.#seq, at, topic, value }
        return more ? { ...event, more } : event
      }),
      arrived,
    )
  }

  async closeAll(): Promise<number> {
    const [seq] = await this.#queue([{ seq: ++this.#seq, closing: true }], () => {})
    return seq!
  }

  /** Waits for what was put, and closes the history. Idempotent. */
  async close(): Promise<void> {
    await this.#idle
    await this.#options.history.close()
  }

  #queue(entries: readonly Entry[], arrived: () => void): Promise<number[]> {
    const kept = Promise.withResolvers<number[]>()
    this.#waiting.push({ entries, kept, arrived })
    if (!this.#flushing) {
      this.#flushing = true
      this.#idle = new Promise((resolve) => setImmediate(() => resolve(this.#flush())))
    }
    return kept.promise
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      await this.#deliver(batch)
    }
    this.#flushing = false
  }

  async #deliver(batch: readonly Waiting[]): Promise<void> {
    const { history, deliver } = this.#options
    const entries = batch.flatMap((one) => one.entries)
    const arrived = () => batch.forEach((one) => one.arrived())
    // At once: a stream that is opened in between would have a place ahead of values that it is not yet to get, or get
    // them twice.
    const onKept = () => {
      for (const one of batch) one.kept.resolve(one.entries.map(({ seq }) => seq))
      const arriving = deliver(entries)
      if (arriving) void arriving.finally(arrived)
      else arrived()
    }
    try {
      await keep(history, entries, onKept)
    } catch (error) {
      arrived()
      for (const { kept } of batch) kept.reject(error)
    }
  }
}

/** Puts what was delivered, or is about to be, into a history. */
export function keep(history: History, entries: readonly Entry[], onKept?: () => void): void | Promise<void> {
  const events = entries.filter((entry): entry is Event => !isClosing(entry))
  return history.append(events, entries.at(-1)!.seq, onKept)
}

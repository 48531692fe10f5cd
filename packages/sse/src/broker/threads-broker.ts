import type { TopicPut } from '../core/event.ts'
import type { Broker, BrokerOptions } from './broker.ts'
import { sumBytes, FanoutBacklog } from './fanout-backlog.ts'
import { isBeforeAnswered } from './answered-seq.ts'
import { appendEntries } from '../history/append-entries.ts'

/**
 * Maximum size of the values in a batch to the main thread (bytes). Only a single larger request exceeds it. With a
 * log, a batch is one entry.
 */
export const MAX_BATCH_BYTES = 4 * 1_024 * 1_024

/**
 * One call to the main thread, for requests of one event loop turn: 129,000 single values/s reach four threads, or
 * 722,000 values/s in arrays of 50.
 */
interface PublishBatch extends PromiseWithResolvers<number[]> {
  puts: TopicPut[]
  bytes: number
}

/**
 * Broker with several threads. The main thread orders the values and sends them to all threads. A thread delivers its
 * own values only when they come back from the main thread, so that all threads have one order.
 */
export function createThreadsBroker(options: BrokerOptions): Broker {
  const { bus, history, backlogLimits, deliver, answered } = options
  const backlog = new FanoutBacklog(backlogLimits)
  let current: PublishBatch | undefined
  /** The next delivery, if a request waits for it. */
  let received: PromiseWithResolvers<void> | undefined

  bus.on('deliver', (entries) => {
    // The history of a thread is in memory, so `appendEntries` has appended the entries when it returns.
    void appendEntries(history, entries)
    deliver(entries)
    received?.resolve()
    received = undefined
  })
  async function receive(answeredSeq: number): Promise<void> {
    while (isBeforeAnswered(history.seq, answeredSeq)) await (received ??= Promise.withResolvers<void>()).promise
  }
  bus.on('largestTopics', options.getLargestTopics)
  bus.on('count', options.countStreams)
  bus.on('listSubscriptions', options.listSubscriptions)

  function sendBatch(batch: PublishBatch): void {
    if (current === batch) current = undefined
    bus.call('publish', batch.puts, batch.bytes).then(batch.resolve, batch.reject)
    bus.flush()
  }

  /** Returns the current batch, or a new one if the bytes do not fit. */
  function getBatchFor(bytes: number): PublishBatch {
    if (current && current.bytes + bytes <= MAX_BATCH_BYTES) return current
    current = { ...Promise.withResolvers<number[]>(), puts: [], bytes: 0 }
    setImmediate(sendBatch, current)
    return current
  }

  return {
    async publish(values) {
      const bytes = sumBytes(values)
      const onPublished = backlog.add(values.length, bytes)
      const batch = getBatchFor(bytes)
      const from = batch.puts.length
      batch.puts = batch.puts.concat(values)
      batch.bytes += bytes
      try {
        return (await batch.promise).slice(from, from + values.length)
      } finally {
        onPublished()
      }
    },
    importEvents: (events) => bus.call('importEvents', events),
    closeAll: () => bus.call('closeAll'),
    catchUp: () => bus.call('catchUp'),
    receiveAnswered() {
      const answeredSeq = answered!.get()
      return isBeforeAnswered(history.seq, answeredSeq) ? receive(answeredSeq) : undefined
    },
    countConnections: () => bus.call('connections'),
    listSubscriptions: () => bus.call('subscriptions'),
    close: () => history.close(),
  }
}

import type { Put } from '../messages.ts'
import type { Broker, BrokerOptions } from './broker.ts'
import { sumBytes, FanoutBacklog } from './fanout-backlog.ts'
import { appendEntries } from './sequencer.ts'

/**
 * Maximum size of a batch to the main thread (bytes). A single larger request may exceed it. A log takes a batch as one
 * entry.
 */
export const MAX_BATCH_BYTES = 4 * 1_024 * 1_024

/** One call to the main thread for all requests of one event loop turn. */
interface PublishBatch extends PromiseWithResolvers<number[]> {
  puts: Put[]
  bytes: number
}

/**
 * Broker with several threads. The main thread orders the values. A thread receives its own values at the same time as
 * those of other threads.
 */
export function createThreadsBroker(options: BrokerOptions): Broker {
  const { bus, history, backlogLimits, deliver } = options
  const backlog = new FanoutBacklog(backlogLimits)
  let current: PublishBatch | undefined

  bus.on('deliver', (entries) => {
    // The history of a thread is in memory, so the append is complete when this returns.
    void appendEntries(history, entries)
    deliver(entries)
  })
  bus.on('largestTopics', options.getLargestTopics)
  bus.on('count', options.countStreams)

  function sendBatch(batch: PublishBatch): void {
    if (current === batch) current = undefined
    bus.call('publish', batch.puts).then(batch.resolve, batch.reject)
  }

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
    closeAll: () => bus.call('closeAll'),
    catchUp: () => bus.call('catchUp'),
    countConnections: () => bus.call('connections'),
    close: () => history.close(),
  }
}

import type { Put } from '../messages.ts'
import type { Broker, BrokerOptions } from './broker.ts'
import { sumBytes, FanoutBacklog } from './fanout-backlog.ts'
import { appendEntries } from './sequencer.ts'

/** What main is asked at once, but for one request that is larger (bytes): a log takes it as one. */
export const MAX_BATCH_BYTES = 4 * 1_024 * 1_024

/** One call to main for all that came within a turn of the event loop. */
interface PublishBatch extends PromiseWithResolvers<number[]> {
  puts: Put[]
  bytes: number
}

/** Main gives the order; each thread hears of every value, its own included, when all others do. */
export function createThreadsBroker(options: BrokerOptions): Broker {
  const { bus, history, backlogLimits, deliver } = options
  const backlog = new FanoutBacklog(backlogLimits)
  let current: PublishBatch | undefined

  bus.on('deliver', (entries) => {
    // A thread's own history is in memory, so this is done when it returns.
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

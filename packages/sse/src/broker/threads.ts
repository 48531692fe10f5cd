import type { Put } from '../messages.ts'
import type { Broker, BrokerOptions } from './broker.ts'
import { bytesOf, Lag } from './lag.ts'
import { keep } from './sequencer.ts'

/** What main is asked at once, but for one request that is larger (bytes): a log takes it as one. */
export const MOST_AT_ONCE = 4 * 1_024 * 1_024

/** One call to main for all that came within a turn of the event loop. */
interface Asked extends PromiseWithResolvers<number[]> {
  puts: Put[]
  bytes: number
}

/** Main gives the order; each thread hears of every value, its own included, when all others do. */
export function createThreadsBroker(options: BrokerOptions): Broker {
  const { bus, history, lag: limits, deliver } = options
  const lag = new Lag(limits)
  let asked: Asked | undefined

  bus.on('deliver', (entries) => {
    // A thread's own history is in memory, so this is done when it returns.
    void keep(history, entries)
    deliver(entries)
  })
  bus.on('largestTopics', options.largestTopics)
  bus.on('count', options.count)

  function ask(one: Asked): void {
    if (asked === one) asked = undefined
    bus.call('publish', one.puts).then(one.resolve, one.reject)
  }

  function askedFor(bytes: number): Asked {
    if (asked && asked.bytes + bytes <= MOST_AT_ONCE) return asked
    asked = { ...Promise.withResolvers<number[]>(), puts: [], bytes: 0 }
    setImmediate(ask, asked)
    return asked
  }

  return {
    async publish(mine) {
      const bytes = bytesOf(mine)
      const arrived = lag.add(mine.length, bytes)
      const one = askedFor(bytes)
      const from = one.puts.length
      one.puts = one.puts.concat(mine)
      one.bytes += bytes
      try {
        return (await one.promise).slice(from, from + mine.length)
      } finally {
        arrived()
      }
    },
    closeAll: () => bus.call('closeAll'),
    catchUp: () => bus.call('catchUp'),
    connections: () => bus.call('connections'),
    close: () => history.close(),
  }
}

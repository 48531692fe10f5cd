import type { Put } from '../messages.ts'
import type { Broker, BrokerOptions } from './broker.ts'
import { Lag } from './lag.ts'
import { keep } from './sequencer.ts'

/** Main gives the order; each thread hears of every value, its own included, when all others do. */
export function createThreadsBroker(options: BrokerOptions): Broker {
  const { bus, history, lag: limits, deliver } = options
  const lag = new Lag(limits)
  let puts: Put[] = []
  let asked: PromiseWithResolvers<number[]> | undefined

  bus.on('deliver', (entries) => {
    // A thread's own history is in memory, so this is done when it returns.
    void keep(history, entries)
    deliver(entries)
  })
  bus.on('largestTopics', options.largestTopics)
  bus.on('count', options.count)

  /** One call to main for all that came within a turn of the event loop. */
  function ask(): void {
    const { resolve, reject } = asked!
    const batch = puts
    puts = []
    asked = undefined
    bus.call('publish', batch).then(resolve, reject)
  }

  return {
    async publish(topic, value, more) {
      const put: Put = more ? [topic, value, more] : [topic, value]
      const arrived = lag.add([put])
      if (!asked) {
        asked = Promise.withResolvers()
        setImmediate(ask)
      }
      const place = puts.push(put) - 1
      try {
        return (await asked.promise)[place]!
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

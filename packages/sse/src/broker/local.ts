import type { Broker, BrokerOptions } from './broker.ts'
import { summarize } from '../connections.ts'
import { LocalSequencer } from './local-sequencer.ts'

/** The one serving thread gives the order itself. */
export function createLocalBroker({ history, lag, deliver, largestTopics, count }: BrokerOptions): Broker {
  const sequencer = new LocalSequencer({ history, lag, deliver })
  return {
    publish: (puts) => sequencer.publish(puts),
    closeAll: () => sequencer.closeAll(),
    async catchUp() {},
    connections: async () => summarize([count(largestTopics())]),
    close: () => sequencer.close(),
  }
}

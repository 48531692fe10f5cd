import type { Broker, BrokerOptions } from './broker.ts'
import { summarize } from '../connections.ts'
import { Sequencer } from './sequencer.ts'

/** The one serving thread gives the order itself. */
export function createLocalBroker({ history, lag, deliver, largestTopics, count }: BrokerOptions): Broker {
  const sequencer = new Sequencer({ history, lag, deliver })
  return {
    async publish(topic, value, more) {
      const [seq] = await sequencer.publish([[topic, value, more]])
      return seq!
    },
    closeAll: () => sequencer.closeAll(),
    async catchUp() {},
    connections: async () => summarize([count(largestTopics())]),
    close: () => sequencer.close(),
  }
}

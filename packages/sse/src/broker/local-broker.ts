import type { Broker, BrokerOptions } from './broker.ts'
import { summarize } from '../hub/connection-counts.ts'
import { LocalSequencer } from './local-sequencer.ts'

/** Broker for a single serving thread, which orders the values itself. */
export function createLocalBroker({
  history,
  backlogLimits,
  deliver,
  getLargestTopics,
  countStreams,
}: BrokerOptions): Broker {
  const sequencer = new LocalSequencer({ history, backlogLimits, deliver })
  return {
    publish: (puts) => sequencer.publish(puts),
    closeAll: () => sequencer.closeAll(),
    async catchUp() {},
    countConnections: async () => summarize([countStreams(getLargestTopics())]),
    close: () => sequencer.close(),
  }
}

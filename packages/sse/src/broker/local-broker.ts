import { openLocalLog } from '@influencer-stats/log/local-log'
import type { Broker, BrokerOptions } from './broker.ts'
import { summarize } from '../hub/connection-counts.ts'
import { sumBytes } from './fanout-backlog.ts'
import { openSequencer } from './sequencer.ts'

/** Creates the broker for a single serving thread, which orders the values itself. */
export async function createLocalBroker({
  history,
  backlogLimits,
  sequenceWaitTimeout,
  deliver,
  getLargestTopics,
  countStreams,
  listSubscriptions,
}: BrokerOptions): Promise<Broker> {
  const sequencer = await openSequencer({
    backlogLimits,
    isPaced: false,
    sequenceWaitTimeout,
    createHistory: () => history,
    deliver,
    openLog: (stateMachine) => openLocalLog({ stateMachine }),
  })
  return {
    publish: (puts) => sequencer.publish(puts, sumBytes(puts)),
    importEvents: (events) => sequencer.importEvents(events),
    closeAll: () => sequencer.closeAll(),
    catchUp: () => sequencer.catchUp(),
    receiveAnswered: () => undefined,
    countConnections: async () => summarize([countStreams(getLargestTopics())]),
    listSubscriptions: async () => listSubscriptions(),
    close: () => sequencer.close(),
  }
}

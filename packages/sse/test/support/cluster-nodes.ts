import type { Log, StateMachine } from '@influencer-stats/log/log'
import { openJetStreamLog } from '@influencer-stats/log/jetstream-log'
import { onTestFinished } from 'vitest'

let streams = 0

/** Creates a name that no other test of this process has used. */
export const createStreamName = () => `sse-${process.pid}-${++streams}`

/** Creates the settings of a cluster node. */
export const createNodeSettings = (cluster: string, natsStream: string) => ({
  cluster,
  natsStream,
  natsReplicas: 1,
})

const silent = { info() {}, warn() {}, error() {} }

/** Opens a log with the options of a cluster node. It is closed when the test ends. */
export async function openTestLog(url: string, stream: string, stateMachine: StateMachine): Promise<Log> {
  const log = await openJetStreamLog({
    service: 'sse',
    stream,
    nats: { servers: [url] },
    replicas: 1,
    stateMachine,
    log: silent,
    appendTimeout: 15_000,
    maxBody: 5_000_000,
  })
  onTestFinished(() => log.close())
  return log
}

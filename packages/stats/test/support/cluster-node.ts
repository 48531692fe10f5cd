import type { NatsServer } from '@influencer-stats/log/nats-server'
import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import type { Log } from '@influencer-stats/log/log'
import type { LevelStateMachine } from '@influencer-stats/log/level-state-machine'
import { openJetStreamLog } from '@influencer-stats/log/jetstream-log'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { beforeAll, onTestFinished } from 'vitest'
import { CHANGE_KIND, encodeChange } from '../../src/state/stats-change.ts'
import { openStatsLevel } from '../../src/state/level-database.ts'
import { createLogState } from '../../src/state/log-state.ts'
import { openStatsStateMachine, type StatsStateMachineOptions } from '../../src/state/machine/stats-state-machine.ts'
import type { StatsState } from '../../src/state/stats-state.ts'
import { startStats, type TestStats } from './stats.ts'

/** Starts a NATS server for the tests of a file. */
export function useNats(): () => NatsServer {
  let server: NatsServer
  beforeAll(async () => {
    server = await startTestNatsServer()
  })
  return () => server
}

let streams = 0
/** Returns an unused name of a stream. */
export const createStreamName = () => `stats-${process.pid}-${++streams}`

const silentLog = { info() {}, warn() {}, error() {} }

/** Opens a node's database and its state machine. */
export async function openTestStateMachine(
  options: Partial<StatsStateMachineOptions> = {},
  folder = createTemporaryFolder(),
) {
  const isReplica = options.isReplica ?? true
  const level = await openStatsLevel({ folder, log: silentLog, isReplica })
  return { level, stateMachine: await openStatsStateMachine({ isReplica, ...options, level }) }
}

export interface TestNodeState {
  readonly state: StatsState
  readonly stateMachine: LevelStateMachine
  readonly log: Log
  /** Resolves once this node holds the poller's lease. */
  held(): Promise<void>
}

/** Opens the state of a node. @param ttl of the lease (ms) @param source of its numbers, and of the cluster's if none is recorded */
export async function openNodeState(
  url: string,
  stream: string,
  ttl = 5_000,
  source = 'stand-in',
): Promise<TestNodeState> {
  const { level, stateMachine } = await openTestStateMachine()
  const log = await openJetStreamLog({
    service: 'stats',
    stream,
    nats: { servers: [url] },
    replicas: 1,
    stateMachine: stateMachine,
    log: silentLog as never,
    appendTimeout: 5_000,
  })
  const lease = log.openLease(ttl)
  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    await log.close()
    await level.close()
  }
  const state = createLogState({ log, lease, source, level, close: () => (closed ??= close()) })
  if (state.getSource!() === undefined) await log.append(CHANGE_KIND, encodeChange({ type: 'source', source }))
  return { state, stateMachine, log, held: () => lease.waitUntilHeld() }
}

/** Settings that make a service a cluster node of a stream. */
export const nodeSettings = (cluster: string, natsStream: string): Overrides => ({
  cluster,
  natsStream,
  natsReplicas: 1,
})

/** Starts a node in this process. It stops when the test ends. */
export async function startNode(natsUrl: string, natsStream: string, settings: Overrides): Promise<TestStats> {
  const node = await startStats({ data: createTemporaryFolder(), ...nodeSettings(natsUrl, natsStream), ...settings })
  onTestFinished(async () => void (await node.stop()))
  return node
}

export const isPolling = async (node: TestStats) => (await node.get('/node')).body.polling === true

/** Starts two nodes of a cluster with the same settings. The first one polls. */
export async function startPair(
  natsUrl: string,
  settings: Overrides,
): Promise<[poller: TestStats, follower: TestStats]> {
  const stream = createStreamName()
  const poller = await startNode(natsUrl, stream, settings)
  await waitUntil(() => isPolling(poller))
  return [poller, await startNode(natsUrl, stream, settings)]
}

import { startNatsServer, type NatsServer } from '@influencer-stats/log/nats-server'
import type { Log } from '@influencer-stats/log/log'
import { logs } from '@influencer-stats/log/parts'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { CHANGE, encodeChange } from '../../src/state/change.ts'
import { openStatsLevel } from '../../src/state/level.ts'
import { createLogState } from '../../src/state/log.ts'
import { openLogView, type LogView, type LogViewOptions } from '../../src/state/log-view.ts'
import type { State } from '../../src/state/state.ts'
import { startStats, type TestStats } from './stats.ts'

/** A server of NATS for the tests of a file. */
export function natsServer(): () => NatsServer {
  let server: NatsServer
  beforeAll(async () => {
    server = await startNatsServer({ folder: createTemporaryFolder() })
  })
  afterAll(() => server?.stop('SIGKILL'))
  return () => server
}

let streams = 0
/** A name that no stream has. */
export const newStream = () => `stats-${process.pid}-${++streams}`

const quiet = { info() {}, warn() {}, error() {} }

/** A base of a node's, and what it makes of the log. */
export async function openView(options: Partial<LogViewOptions> = {}, folder = createTemporaryFolder()) {
  const level = await openStatsLevel({ folder, log: quiet, isReplica: true })
  return { level, view: await openLogView({ level, onChanges() {}, ...options }) }
}

export interface TestNodeState {
  readonly state: State
  readonly view: LogView
  readonly log: Log
  /** Resolves once it is the one that may keep what pollers do. */
  held(): Promise<void>
}

/** Opens the state of a node. @param ttl of the lease (ms) @param source of its numbers, and of the cluster's if none is recorded */
export async function openNodeState(
  url: string,
  stream: string,
  ttl = 5_000,
  source = 'stand-in',
): Promise<TestNodeState> {
  const { level, view } = await openView()
  const log = await logs.jetstream({
    service: 'stats',
    stream,
    nats: { servers: [url] },
    replicas: 1,
    stateMachine: view,
    log: quiet as never,
    appendTimeout: 5_000,
  })
  const lease = log.openLease(ttl)
  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    await log.close()
    await level.close()
  }
  const state = createLogState({ log, lease, source, level, close: () => (closed ??= close()) })
  if (state.source!() === undefined) await log.append(CHANGE, encodeChange({ type: 'source', source }))
  return { state, view, log, held: () => lease.waitUntilHeld() }
}

/** What makes a service a node of those that share a stream. */
export const nodeSettings = (natsUrl: string, natsStream: string): Overrides => ({
  log: 'jetstream',
  natsUrl,
  natsStream,
  natsReplicas: 1,
})

/** A node in this process; it is stopped when the test ends. */
export async function startNode(natsUrl: string, natsStream: string, settings: Overrides): Promise<TestStats> {
  const node = await startStats({ data: createTemporaryFolder(), ...nodeSettings(natsUrl, natsStream), ...settings })
  onTestFinished(async () => void (await node.stop()))
  return node
}

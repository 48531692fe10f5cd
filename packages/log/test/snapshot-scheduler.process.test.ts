import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createSnapshotScheduler, type SnapshotScheduler } from '../src/snapshot-scheduler.ts'
import { startTestNatsServer } from './support/nats.ts'
import { createLogCapture, createStreamName, openTestLog } from './support/open-log.ts'
import { APPEND_KIND, TextStateMachine } from './support/text-state-machine.ts'

const INTERVAL_SEQUENCES = 20
const ROUND_COUNT = 5

it('bounds the log, and a new node has all entries', async () => {
  const { url } = await startTestNatsServer()
  const stream = createStreamName()
  const schedulers: SnapshotScheduler[] = []
  const { log, stateMachine: machine } = await openTestLog(url, stream, {
    onState: ({ applied }) => schedulers.forEach((scheduler) => scheduler.onAdvance(applied)),
  })
  const scheduler = createSnapshotScheduler({
    log,
    intervalSequences: INTERVAL_SEQUENCES,
    logger: createLogCapture().log,
    maxDelay: 1,
  })
  schedulers.push(scheduler)
  for (let round = 0; round < ROUND_COUNT; round++) {
    for (let i = 0; i < INTERVAL_SEQUENCES; i++) await log.append(APPEND_KIND, Buffer.from(String(i)))
    await waitUntil(async () => {
      // The last entry may have come while the scheduler still worked on the snapshot before.
      scheduler.onAdvance(log.state.applied)
      return ((await log.getLatestSnapshot()) ?? 0) > log.state.applied - INTERVAL_SEQUENCES
    })
  }
  await scheduler.close()
  const nc = await connect({ servers: [url] })
  const { state } = await (await jetstreamManager(nc)).streams.info(stream)
  await nc.close()
  expect(state.last_seq).toBe(ROUND_COUNT * INTERVAL_SEQUENCES)
  // A node that lags by less than a snapshot needs none.
  expect(state.first_seq).toBeLessThanOrEqual((await log.getLatestSnapshot())! - INTERVAL_SEQUENCES)
  expect(state.messages).toBeLessThanOrEqual(2 * INTERVAL_SEQUENCES + 1)
  const joined = await openTestLog(url, stream)
  expect(joined.stateMachine.toDigest()).toBe(machine.toDigest())
})

it('bounds the log in bytes, too, if different nodes take snapshots', async () => {
  const { url } = await startTestNatsServer()
  const stream = createStreamName()
  const intervalBytes = 100_000
  const schedulers: SnapshotScheduler[] = []
  async function startNode() {
    let bytes = 0
    const machine = new TextStateMachine()
    const apply = machine.apply.bind(machine)
    machine.apply = (entries, position) => {
      for (const { body } of entries) bytes += body.length
      return apply(entries, position)
    }
    const own: SnapshotScheduler[] = []
    const { log } = await openTestLog(url, stream, {
      stateMachine: machine,
      onState: ({ applied }) => own[0]?.onAdvance(applied, bytes),
    })
    const scheduler = createSnapshotScheduler({
      log,
      intervalSequences: 1_000_000,
      intervalBytes,
      logger: createLogCapture().log,
      maxDelay: 1,
    })
    own.push(scheduler)
    schedulers.push(scheduler)
    return log
  }
  const logs = [await startNode(), await startNode()]
  const snapshotSequences = new Set<number>()
  for (let i = 0; i < 100; i++) {
    await logs[i % 2]!.append(APPEND_KIND, Buffer.alloc(10_000, String(i)))
    snapshotSequences.add((await logs[0]!.getLatestSnapshot()) ?? 0)
  }
  await Promise.all(schedulers.map((scheduler) => scheduler.close()))
  const nc = await connect({ servers: [url] })
  const { state } = await (await jetstreamManager(nc)).streams.info(stream)
  await nc.close()
  expect(state.messages).toBeLessThan(50)
  // The nodes take a snapshot neither after every entry nor each on its own.
  expect(snapshotSequences.size).toBeGreaterThan(5)
  expect(snapshotSequences.size).toBeLessThan(30)
})

it('takes none for entries before the snapshot of another node', async () => {
  let latest = 0
  const checked: number[] = []
  const taken: number[] = []
  const log = {
    state: { applied: 0, known: 0, lastContactAt: 0, clockOffsets: { min: 0, max: 0 } },
    async getLatestSnapshot() {
      checked.push(log.state.applied)
      return latest
    },
    snapshot: async () => taken.push(log.state.applied),
    async trim() {},
  }
  const scheduler = createSnapshotScheduler({
    log,
    intervalSequences: 1_000,
    intervalBytes: 100,
    logger: createLogCapture().log,
    maxDelay: 0,
  })
  async function advance(applied: number, bytes: number) {
    log.state = { applied, known: applied, lastContactAt: 0, clockOffsets: { min: 0, max: 0 } }
    scheduler.onAdvance(applied, bytes)
    // Node runs the timer of the scheduler (1 ms) first, and then all its steps.
    await delay(2)
    await turn()
  }
  await advance(1, 50)
  latest = 5
  await advance(10, 100)
  await advance(11, 199)
  expect([checked, taken]).toEqual([[1, 10], []])
  await advance(12, 200)
  await advance(13, 299)
  expect([checked, taken]).toEqual([[1, 10, 12], [12]])
  await scheduler.close()
})

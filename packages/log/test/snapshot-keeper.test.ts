import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { until } from '@influencer-stats/runtime/testing/until'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { keepSnapshots, type SnapshotKeeper } from '../src/snapshot-keeper.ts'
import { natsServer } from './support/nats.ts'
import { createLines, newStream, openNode } from './support/open-log.ts'
import { APPEND, TextView } from './support/text-view.ts'

const EVERY = 20
const ROUNDS = 5

it('keeps the log bounded, and a new node has all of it', async () => {
  const { url } = await natsServer()
  const stream = newStream()
  const keepers: SnapshotKeeper[] = []
  const { log, view } = await openNode(url, stream, {
    onState: ({ applied }) => keepers.forEach((keeper) => keeper.advanced(applied)),
  })
  const keeper = keepSnapshots({ log, every: EVERY, logger: createLines().log, patience: 1 })
  keepers.push(keeper)
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < EVERY; i++) await log.append(APPEND, Buffer.from(String(i)))
    await until(async () => ((await log.newestSnapshot()) ?? 0) > log.state.applied - EVERY)
  }
  await keeper.close()
  const nc = await connect({ servers: [url] })
  const { state } = await (await jetstreamManager(nc)).streams.info(stream)
  await nc.close()
  expect(state.last_seq).toBe(ROUNDS * EVERY)
  // Who is behind by less than a snapshot needs none.
  expect(state.first_seq).toBeLessThanOrEqual((await log.newestSnapshot())! - EVERY)
  expect(state.messages).toBeLessThanOrEqual(2 * EVERY + 1)
  const fresh = await openNode(url, stream)
  expect(fresh.view.digest()).toBe(view.digest())
})

it('keeps the log bounded in bytes, too, whoever takes a snapshot', async () => {
  const { url } = await natsServer()
  const stream = newStream()
  const everyBytes = 100_000
  const keepers: SnapshotKeeper[] = []
  async function node() {
    let bytes = 0
    const view = new TextView()
    const apply = view.apply.bind(view)
    view.apply = (entries, position) => {
      for (const { body } of entries) bytes += body.length
      return apply(entries, position)
    }
    const { log } = await openNode(url, stream, { view, onState: ({ applied }) => keeper?.advanced(applied, bytes) })
    const keeper = keepSnapshots({ log, every: 1_000_000, everyBytes, logger: createLines().log, patience: 1 })
    keepers.push(keeper)
    return log
  }
  const logs = [await node(), await node()]
  const places = new Set<number>()
  for (let i = 0; i < 100; i++) {
    await logs[i % 2]!.append(APPEND, Buffer.alloc(10_000, String(i)))
    places.add((await logs[0]!.newestSnapshot()) ?? 0)
  }
  await Promise.all(keepers.map((keeper) => keeper.close()))
  const nc = await connect({ servers: [url] })
  const { state } = await (await jetstreamManager(nc)).streams.info(stream)
  await nc.close()
  expect(state.messages).toBeLessThan(50)
  // Not after every entry, nor by each node for itself.
  expect(places.size).toBeGreaterThan(5)
  expect(places.size).toBeLessThan(30)
})

it('takes none for what lies before the one that another node has taken', async () => {
  let newest = 0
  const taken: number[] = []
  const log = {
    state: { applied: 0, known: 0, contact: 0, clockOffsets: { min: 0, max: 0 } },
    newestSnapshot: async () => newest,
    snapshot: async () => taken.push(log.state.applied),
    async trim() {},
  }
  const keeper = keepSnapshots({ log, every: 1_000, everyBytes: 100, logger: createLines().log, patience: 1 })
  async function advance(applied: number, bytes: number) {
    log.state = { applied, known: applied, contact: 0, clockOffsets: { min: 0, max: 0 } }
    keeper.advanced(applied, bytes)
    // As long as a snapshot that is due takes, and some.
    await delay(20)
  }
  await advance(1, 50)
  newest = 5
  await advance(10, 100)
  await advance(11, 199)
  expect(taken).toEqual([])
  await advance(12, 200)
  await advance(13, 299)
  expect(taken).toEqual([12])
  await keeper.close()
})

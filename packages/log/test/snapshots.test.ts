import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { beforeAll, expect, it } from 'vitest'
import { createSnapshots } from '../src/jetstream/snapshots.ts'
import { natsManaged } from './support/nats.ts'
import { TextView } from './support/text-view.ts'

let nc: NatsConnection
let jsm: JetStreamManager
beforeAll(async () => void ({ nc, jsm } = await natsManaged()))

let streams = 0

async function snapshotsOf(view: TextView, stalledAfter?: number) {
  const stream = `snapshots-${++streams}`
  await jsm.streams.add({ name: stream, subjects: [stream] })
  const info: StreamInfo = await jsm.streams.info(stream)
  const snapshots = createSnapshots(nc, jsm, stream, info, stalledAfter)
  const save = (seq: number, value = String(seq)) => {
    view.texts = [value]
    view.kept = { epoch: 'e', seq, at: 0, check: 0, writers: [] }
    return snapshots.save(view)
  }
  const objects = `OBJ_${stream}-snapshots`
  return { snapshots, save, stream: objects, objects: async () => (await jsm.streams.info(objects)).state.messages }
}

it('are two at most: one may be being read', async () => {
  const { save, objects, snapshots } = await snapshotsOf(new TextView())
  const counts: number[] = []
  for (let seq = 1; seq <= 5; seq++) {
    await save(seq)
    counts.push(await objects())
  }
  // Of each its piece and what is said of it, and that one was deleted, but for those that were so before.
  expect(counts).toEqual([2, 4, 5, 5, 5])
  expect(await snapshots.newest()).toBe(5)
})

it('leave no consumer behind', async () => {
  const { save, stream, snapshots } = await snapshotsOf(new TextView())
  for (const seq of [1, 2, 3]) await save(seq)
  await snapshots.newest()
  await snapshots.load(new TextView())
  expect((await jsm.streams.info(stream)).state.consumer_count).toBe(0)
})

it('one whose place another took while it was read is left for that one', async () => {
  const { save, snapshots } = await snapshotsOf(new TextView())
  await save(1)
  const view = new TextView()
  const restore = view.restore.bind(view)
  view.restore = async (all) => {
    view.restore = restore
    for await (const _ of all) await save(2)
    throw new Error('it ended before its end')
  }
  await snapshots.load(view)
  expect([view.texts, view.kept?.seq]).toEqual([['2'], 2])
})

it('one that cannot be read is told of, where there is no other', async () => {
  const { save, snapshots } = await snapshotsOf(new TextView())
  await expect(snapshots.load(new TextView())).rejects.toThrow('there is no snapshot')
  await save(1)
  const view = new TextView()
  view.restore = () => Promise.reject(new Error('the disk is full'))
  await expect(snapshots.load(view)).rejects.toThrow('the disk is full')
})

it('one of many pieces comes whole, some at a time; one that is not all there does not', async () => {
  const { save, snapshots, stream } = await snapshotsOf(new TextView(), 200)
  const long = 'x'.repeat(9_000_000)
  await save(1, long)
  const view = new TextView()
  const sizes: number[] = []
  const restore = view.restore.bind(view)
  view.restore = (all) => restore(counted(all, sizes))
  await snapshots.load(view)
  expect(view.texts).toEqual([long])
  expect(sizes.length).toBeGreaterThan(60)
  await jsm.streams.purge(stream, { filter: `$O.${stream.slice(4)}.C.>`, keep: 3 })
  await expect(snapshots.load(new TextView())).rejects.toThrow('nothing more comes')
})

async function* counted(all: AsyncIterable<Buffer>, sizes: number[]): AsyncGenerator<Buffer> {
  for await (const piece of all) {
    sizes.push(piece.length)
    yield piece
  }
}

it('one that is deleted while it is read is not waited for', async () => {
  const { save, snapshots } = await snapshotsOf(new TextView(), Infinity)
  await save(1, 'x'.repeat(9_000_000))
  const view = new TextView()
  const restore = view.restore.bind(view)
  view.restore = async (all) => {
    view.restore = restore
    for await (const _ of all) if ((await snapshots.newest()) === 1) for (const seq of [2, 3, 4]) await save(seq)
  }
  await snapshots.load(view)
  expect(view.texts).toEqual(['4'])
})

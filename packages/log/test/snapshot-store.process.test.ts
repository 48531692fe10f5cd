import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { beforeAll, expect, it } from 'vitest'
import { createSnapshotStore } from '../src/jetstream/snapshot-store.ts'
import { connectTestNats } from './support/nats.ts'
import { TextStateMachine } from './support/text-state-machine.ts'

let nc: NatsConnection
let jsm: JetStreamManager
beforeAll(async () => void ({ nc, jsm } = await connectTestNats()))

let streams = 0

async function startSnapshotStore(stateMachine: TextStateMachine, stallTimeout?: number) {
  const stream = `snapshots-${++streams}`
  await jsm.streams.add({ name: stream, subjects: [stream] })
  const info: StreamInfo = await jsm.streams.info(stream)
  const snapshots = createSnapshotStore(nc, jsm, stream, info, stallTimeout)
  const save = (seq: number, value = String(seq)) => {
    stateMachine.texts = [value]
    stateMachine.savedPosition = { epoch: 'e', seq, at: 0, check: 0, writers: [] }
    return snapshots.save(stateMachine)
  }
  const countMessages = `OBJ_${stream}-snapshots`
  return {
    snapshots,
    save,
    stream: countMessages,
    countMessages: async () => (await jsm.streams.info(countMessages)).state.messages,
  }
}

it('retains at most two snapshots, because one may be in use', async () => {
  const { save, countMessages: objects, snapshots } = await startSnapshotStore(new TextStateMachine())
  const counts: number[] = []
  for (let seq = 1; seq <= 5; seq++) {
    await save(seq)
    counts.push(await objects())
  }
  // Each snapshot has a chunk and its metadata. The metadata of a deleted one remains until the next save.
  expect(counts).toEqual([2, 4, 5, 5, 5])
  expect(await snapshots.getLatest()).toBe(5)
})

it('leaks no consumer', async () => {
  const { save, stream, snapshots } = await startSnapshotStore(new TextStateMachine())
  for (const seq of [1, 2, 3]) await save(seq)
  await snapshots.getLatest()
  await snapshots.load(new TextStateMachine())
  expect((await jsm.streams.info(stream)).state.consumer_count).toBe(0)
})

it('loads the newer snapshot if it replaces one during the load', async () => {
  const { save, snapshots } = await startSnapshotStore(new TextStateMachine())
  await save(1)
  const stateMachine = new TextStateMachine()
  const restore = stateMachine.restore.bind(stateMachine)
  stateMachine.restore = async (chunks) => {
    stateMachine.restore = restore
    for await (const _ of chunks) await save(2)
    throw new Error('it ended before its end')
  }
  await snapshots.load(stateMachine)
  expect([stateMachine.texts, stateMachine.savedPosition?.seq]).toEqual([['2'], 2])
})

it('rejects if the only snapshot cannot be read', async () => {
  const { save, snapshots } = await startSnapshotStore(new TextStateMachine())
  await expect(snapshots.load(new TextStateMachine())).rejects.toThrow('no snapshot exists')
  await save(1)
  const stateMachine = new TextStateMachine()
  stateMachine.restore = () => Promise.reject(new Error('the disk is full'))
  await expect(snapshots.load(stateMachine)).rejects.toThrow('the disk is full')
})

it('loads many chunks in several fetches, and rejects an incomplete snapshot', async () => {
  const { save, snapshots, stream } = await startSnapshotStore(new TextStateMachine(), 200)
  const text = 'x'.repeat(9_000_000)
  await save(1, text)
  const stateMachine = new TextStateMachine()
  const sizes: number[] = []
  const restore = stateMachine.restore.bind(stateMachine)
  stateMachine.restore = (chunks) => restore(countChunks(chunks, sizes))
  await snapshots.load(stateMachine)
  expect(stateMachine.texts).toEqual([text])
  expect(sizes.length).toBeGreaterThan(60)
  await jsm.streams.purge(stream, { filter: `$O.${stream.slice(4)}.C.>`, keep: 3 })
  await expect(snapshots.load(new TextStateMachine())).rejects.toThrow('timeout while loading the snapshot')
})

async function* countChunks(chunks: AsyncIterable<Buffer>, sizes: number[]): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    sizes.push(chunk.length)
    yield chunk
  }
}

it('does not wait for a snapshot that is deleted during the load', async () => {
  const { save, snapshots } = await startSnapshotStore(new TextStateMachine(), Infinity)
  await save(1, 'x'.repeat(9_000_000))
  const stateMachine = new TextStateMachine()
  const restore = stateMachine.restore.bind(stateMachine)
  stateMachine.restore = async (chunks) => {
    stateMachine.restore = restore
    for await (const _ of chunks) if ((await snapshots.getLatest()) === 1) for (const seq of [2, 3, 4]) await save(seq)
  }
  await snapshots.load(stateMachine)
  expect(stateMachine.texts).toEqual(['4'])
})

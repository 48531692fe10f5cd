import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { NatsServer } from '../src/nats/start-server.ts'
import { createSuccessor, inspectLog, type SuccessorOptions } from '../src/successor.ts'
import { deleteStream, startTestNatsServer } from './support/nats.ts'
import { toAncestor } from '../src/jetstream/stream/stream.ts'
import { createStreamName, openTestLog } from './support/open-log.ts'
import { toBuffer } from './support/text-frames.ts'
import { APPEND_KIND, type TextStateMachine } from './support/text-state-machine.ts'

let server: NatsServer
beforeAll(async () => void (server = await startTestNatsServer()))

type Node = Awaited<ReturnType<typeof openTestLog<TextStateMachine>>>

const append = ({ log }: Node, text: string) => log.append<number>(APPEND_KIND, toBuffer(text))
const openNode = (stream: string, options: Parameters<typeof openTestLog<TextStateMachine>>[2] = {}) =>
  openTestLog<TextStateMachine>(server.url, stream, { verifyTimeout: 500, ...options })

/** Continues a log from the state of a node. */
async function rescue(stream: string, { stateMachine }: Node, options: Partial<SuccessorOptions> = {}) {
  const ancestor = toAncestor(stateMachine.getPosition()!)
  const steps: string[] = []
  const { epoch: created } = await createSuccessor({
    nats: { servers: [server.url] },
    service: 'test',
    stream,
    replicas: 1,
    ancestor,
    snapshot: () => stateMachine.snapshot(),
    replace: false,
    onStep(step) {
      // The server may still remove the files of a deleted stream.
      if (!step.startsWith('waiting')) steps.push(step.split(' ').slice(0, 2).join(' '))
    },
    ...options,
  })
  return { steps, epoch: created }
}

it('nodes with the position of the ancestor continue in place, and later nodes load the snapshot', async () => {
  const stream = createStreamName()
  const nodes = [await openNode(stream), await openNode(stream)]
  for (const text of ['a', 'b', 'c']) await append(nodes[0]!, text)
  await Promise.all(nodes.map(({ log }) => log.barrier()))
  const before = nodes[0]!.log.epoch
  await deleteStream(server.url, stream)
  await waitUntil(() => nodes.every(({ log }) => log.availability.code === 'LOG_LOST'))
  // The first node has stored the position of the last barrier at its detachment.
  const { steps, epoch } = await rescue(stream, nodes[0]!)
  expect(steps).toEqual(['creating stream', 'storing the'])
  await waitUntil(() => nodes.every(({ log }) => log.availability.code === 'READY'))
  expect(nodes.map(({ log }) => log.epoch)).toEqual([epoch, epoch])
  expect(epoch).not.toBe(before)
  await append(nodes[0]!, 'd')
  await append(nodes[1]!, 'e')
  const later = await openNode(stream)
  await Promise.all([...nodes, later].map(({ log }) => log.barrier()))
  expect(later.stateMachine.texts).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(new Set([...nodes, later].map(({ stateMachine }) => stateMachine.toDigest())).size).toBe(1)
  expect(later.log.epoch).toBe(epoch)
})

it('a node behind the ancestor restarts to load the snapshot, and one ahead stays without its log', async () => {
  const stream = createStreamName()
  const behind = await openNode(stream)
  await append(behind, 'a')
  await behind.log.close()
  const source = await openNode(stream)
  await append(source, 'b')
  await source.log.close()
  const ahead = await openNode(stream)
  await append(ahead, 'c')
  await deleteStream(server.url, stream)
  await waitUntil(() => ahead.log.availability.code === 'LOG_LOST')
  await rescue(stream, source)
  await waitUntil(() => 'detail' in ahead.log.availability && ahead.log.availability.detail.includes('newer entries'))
  expect(ahead.log.availability).toMatchObject({
    code: 'LOG_LOST',
    detail: expect.stringMatching(
      /newer entries, up to 3, and the stream continues after 2: rescue the log from this node/,
    ),
  })
  const restarted = await openNode(stream, { stateMachine: behind.stateMachine })
  expect(restarted.stateMachine.texts).toEqual(['a', 'b'])
  await append(restarted, 'd')
  // A second rescue from the newest state replaces the first one.
  await expect(rescue(stream, ahead)).rejects.toMatchObject({ code: 'LOG_EXISTS' })
  const { steps } = await rescue(stream, ahead, { replace: true })
  expect(steps).toEqual(['deleting stream', 'creating stream', 'storing the'])
  await waitUntil(() => ahead.log.availability.code === 'READY')
  await append(ahead, 'e')
  expect(ahead.stateMachine.texts).toEqual(['a', 'b', 'c', 'e'])
})

it('a node that missed two rescues loads the snapshot, unless it has entries of its own', async () => {
  const stream = createStreamName()
  const missed = await openNode(stream)
  await append(missed, 'a')
  await missed.log.close()
  const source = await openNode(stream)
  const ahead = await openNode(stream)
  await append(source, 'b')
  await ahead.log.barrier()
  const { epoch: first } = source.stateMachine.getPosition()!
  await ahead.log.close()
  for (const text of ['c', 'd']) {
    await deleteStream(server.url, stream)
    await waitUntil(() => source.log.availability.code === 'LOG_LOST')
    await rescue(stream, source)
    await waitUntil(() => source.log.availability.code === 'READY')
    await append(source, text)
  }
  expect(source.stateMachine.getPosition()!.ancestors!.map(({ seq }) => seq)).toHaveLength(2)
  const restarted = await openNode(stream, { stateMachine: missed.stateMachine })
  await restarted.log.barrier()
  expect(restarted.stateMachine.texts).toEqual(['a', 'b', 'c', 'd'])
  expect(restarted.log.epoch).toBe(source.log.epoch)
  // It has an entry of the first log after its fork.
  const { stateMachine } = ahead
  stateMachine.savedPosition = {
    ...stateMachine.savedPosition!,
    epoch: first,
    seq: stateMachine.savedPosition!.seq + 5,
  }
  const code = 'LOG_LOST'
  const newer = expect.stringContaining('newer entries')
  await expect(openNode(stream, { stateMachine })).rejects.toMatchObject({ code, message: newer })
  stateMachine.savedPosition = { ...stateMachine.savedPosition, seq: 1, partialSeq: 99 }
  const part = expect.stringContaining('a part of the entries up to 99')
  await expect(openNode(stream, { stateMachine })).rejects.toMatchObject({ code, message: part })
})

it('can be repeated after a failure at any point, and describes the log', async () => {
  const stream = createStreamName()
  const node = await openNode(stream)
  await append(node, 'a')
  await node.log.close()
  const inspect = () => inspectLog({ nats: { servers: [server.url] }, service: 'test', stream })
  expect(await inspect()).toMatchObject({ messages: 1, lastSeq: 1, service: 'test', cluster: '', ancestor: undefined })
  await deleteStream(server.url, stream)
  expect(await inspect()).toBeUndefined()
  async function* createBrokenSnapshot(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(10)
    throw new Error('the node has stopped')
  }
  await expect(rescue(stream, node, { snapshot: createBrokenSnapshot })).rejects.toMatchObject({
    code: 'LOG_UNREACHABLE',
  })
  const { seq } = node.stateMachine.getPosition()!
  expect(await inspect()).toMatchObject({ messages: 0, ancestor: { seq }, hasQuorum: true })
  const second = await rescue(stream, node)
  expect(second.steps).toEqual([`stream ${stream}`, 'storing the'])
  const third = await rescue(stream, node)
  expect([third.steps, third.epoch]).toEqual([[`stream ${stream}`, 'the snapshot'], second.epoch])
  const joined = await openNode(stream)
  expect(joined.stateMachine.texts).toEqual(['a'])
})

it('waits until the servers can store the stream', async () => {
  const stream = createStreamName()
  const node = await openNode(stream)
  await append(node, 'a')
  await node.log.close()
  await deleteStream(server.url, stream)
  // In place of the folder of the stream, as the one that a server still removes.
  const folder = join(server.store, 'jetstream', '$G', 'streams', stream)
  await waitUntil(() => !existsSync(folder))
  writeFileSync(folder, '')
  const steps: string[] = []
  const { epoch } = await rescue(stream, node, {
    onStep(step) {
      steps.push(step)
      if (step.startsWith('waiting')) rmSync(folder, { force: true })
    },
  })
  expect(steps.filter((step) => step.startsWith('waiting'))).toEqual([
    `waiting until the servers can store stream ${stream}`,
  ])
  const joined = await openNode(stream)
  expect([joined.stateMachine.texts, joined.log.epoch]).toEqual([['a'], epoch])
})

it('a stream of another cluster is refused', async () => {
  const stream = createStreamName()
  const staging = await openNode(stream, { cluster: 'staging' })
  await append(staging, 'a')
  await expect(openNode(stream, { cluster: 'production' })).rejects.toMatchObject({
    code: 'CLUSTER_MISMATCH',
    message: `test: stream ${stream} belongs to cluster staging, and this node to cluster production (--cluster-name)`,
  })
  await expect(openNode(stream)).rejects.toMatchObject({ code: 'CLUSTER_MISMATCH' })
  await expect(
    rescue(stream, staging, { cluster: 'production', ancestor: { epoch: 'e', seq: 1, check: 0 } }),
  ).rejects.toMatchObject({ code: 'LOG_EXISTS' })
})

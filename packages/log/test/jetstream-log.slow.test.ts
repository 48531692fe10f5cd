import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toSubject } from '../src/jetstream/stream/stream.ts'
import type { NatsServer } from '../src/nats/start-server.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describeLog } from './log.conformance.ts'
import { startTestNatsServer } from './support/nats.ts'
import { createLogCapture, createStreamName, openTestLog } from './support/open-log.ts'
import { createMessageOfFormat, toBuffer, toFrame } from './support/text-frames.ts'
import { APPEND_KIND, SWAP_KIND, type TextStateMachine } from './support/text-state-machine.ts'

let server: NatsServer
let nc: NatsConnection

beforeAll(async () => {
  server = await startTestNatsServer()
  nc = await connect({ servers: [server.url] })
})
afterAll(() => nc?.close())

describeLog('jetstream', () => {
  const stream = createStreamName()
  const open = async (machine: TextStateMachine) =>
    (await openTestLog(server.url, stream, { stateMachine: machine })).log
  return { open, reopen: open }
})

describe('on several nodes', () => {
  it('has the same order and outcomes on every node', async () => {
    const stream = createStreamName()
    const nodes = [
      await openTestLog(server.url, stream),
      await openTestLog(server.url, stream),
      await openTestLog(server.url, stream),
    ]
    let swapped = 0
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all(
        nodes.flatMap(({ log }, i) => [
          log.append(APPEND_KIND, toBuffer(`${round}.${i}`)),
          log.append<boolean>(SWAP_KIND, toBuffer(`${round || ''}>${round + 1}`)),
        ]),
      )
      swapped += results.filter(({ outcome }) => outcome === true).length
    }
    expect(swapped).toBe(20)
    const last = Math.max(...nodes.map(({ log }) => log.state.applied))
    await Promise.all(nodes.map(({ log }) => log.waitForSequence(last, 10_000)))
    expect(nodes[0]!.stateMachine.texts).toHaveLength(60)
    expect(new Set(nodes.map(({ stateMachine: machine }) => machine.toDigest())).size).toBe(1)
  })

  it('identifies the log, and uses the given storage', async () => {
    const stream = createStreamName()
    const nodes = [
      await openTestLog(server.url, stream, { storage: 'memory' }),
      await openTestLog(server.url, stream),
      await openTestLog(server.url, createStreamName()),
    ]
    const [one, same, another] = nodes.map(({ log }) => log.epoch)
    expect(one).toBe(same)
    expect(another).not.toBe(one)
    const jsm = await jetstreamManager(nc)
    expect((await jsm.streams.info(stream)).config.storage).toBe('memory')
    const large = 'x'.repeat(3_000_000)
    const { seq } = await nodes[0]!.log.append(APPEND_KIND, toBuffer(large))
    await nodes[1]!.log.waitForSequence(seq, 10_000)
    expect(nodes[1]!.stateMachine.texts).toEqual([large])
  })

  it('makes an acknowledged write readable on another node, by its sequence and by a barrier', async () => {
    const stream = createStreamName()
    const [one, other] = [await openTestLog(server.url, stream), await openTestLog(server.url, stream)]
    for (let i = 0; i < 20; i++) {
      const { seq } = await one.log.append(APPEND_KIND, toBuffer(String(i)))
      if (i % 2 === 0) await other.log.waitForSequence(seq, 10_000)
      else expect(await other.log.barrier()).toBeGreaterThan(seq)
      expect(other.stateMachine.texts).toHaveLength(i + 1)
    }
  })

  it('brings a node that joins later up to date', async () => {
    const stream = createStreamName()
    const one = await openTestLog(server.url, stream)
    for (let round = 0; round < 600; round++)
      await Promise.all([1, 2].map((i) => one.log.append(APPEND_KIND, toBuffer(`${round}.${i}`))))
    const other = await openTestLog(server.url, stream)
    expect(other.stateMachine.texts).toEqual(one.stateMachine.texts)
    expect(other.stateMachine.texts).toHaveLength(1_200)
  })

  it('has one holder of the lease, and fences entries of the previous holder', async () => {
    const stream = createStreamName()
    const [one, other] = [await openTestLog(server.url, stream), await openTestLog(server.url, stream)]
    const first = one.log.openLease(60_000)
    await first.waitUntilHeld()
    const second = other.log.openLease(60_000)
    const { term } = first
    await first.append(APPEND_KIND, toBuffer('first'))
    expect(second.term).toBeUndefined()
    await first.close()
    await second.waitUntilHeld()
    expect(second.term).toBe(term! + 1)
    await second.append(APPEND_KIND, toBuffer('second'))
    await one.log.barrier()
    expect(one.stateMachine.texts).toEqual(['first', 'second'])
    await expect(first.append(APPEND_KIND, toBuffer('late'))).rejects.toMatchObject({ code: 'LEASE_LOST' })
  })
})

describe('a frame', () => {
  it('larger than a message is sent in parts, and applied as one', async () => {
    const stream = createStreamName()
    const [one, other] = [
      await openTestLog(server.url, stream, { maxBody: 20_000_000 }),
      await openTestLog(server.url, stream),
    ]
    const large = 'x'.repeat(9_000_000)
    const results = await Promise.all([
      one.log.append(APPEND_KIND, toBuffer(large)),
      other.log.append(APPEND_KIND, toBuffer('small')),
      other.log.append(APPEND_KIND, toBuffer(`${large}y`)),
    ])
    await Promise.all(
      [one, other].map(({ log }) => log.waitForSequence(Math.max(...results.map(({ seq }) => seq)), 20_000)),
    )
    expect(one.stateMachine.toDigest()).toBe(other.stateMachine.toDigest())
    expect(one.stateMachine.texts.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([
      5, 9_000_000, 9_000_001,
    ])
    const third = await openTestLog(server.url, stream)
    expect(third.stateMachine.toDigest()).toBe(one.stateMachine.toDigest())
  })

  it('that arrives twice counts once, and one after a missing frame does not count', async () => {
    const stream = createStreamName()
    const { log, stateMachine: machine } = await openTestLog(server.url, stream)
    const js = jetstream(nc)
    const publishFrame = (number: number, value: string) => js.publish(toSubject(stream), toFrame(number, value))
    await publishFrame(1, 'one')
    await publishFrame(1, 'one')
    await publishFrame(3, 'three')
    await publishFrame(2, 'two')
    await publishFrame(1, 'one')
    await publishFrame(3, 'three')
    await log.barrier()
    expect(machine.texts).toEqual(['one', 'two', 'three'])
  })

  it('of another format ends the writes of the node, not its reads, also after a restart', async () => {
    const stream = createStreamName()
    const { lines, log: logger } = createLogCapture()
    const { log, stateMachine: machine } = await openTestLog(server.url, stream, { log: logger })
    await log.append(APPEND_KIND, toBuffer('before'))
    await jetstream(nc).publish(toSubject(stream), createMessageOfFormat(2))
    await waitUntil(() => log.availability.code !== 'READY')
    expect(log.availability).toMatchObject({
      code: 'LOG_FORMAT_UNKNOWN',
      detail: `message 2 of stream ${stream}: has format 2; this version knows 1`,
    })
    await expect(log.append(APPEND_KIND, toBuffer('after'))).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
      detail: 'LOG_FORMAT_UNKNOWN',
    })
    expect(machine.texts).toEqual(['before'])
    await expect(openTestLog(server.url, stream, { stateMachine: machine })).rejects.toMatchObject({
      code: 'LOG_FORMAT_UNKNOWN',
    })
    expect(lines.filter((line) => line.includes('is unavailable'))).toHaveLength(1)
  })
})

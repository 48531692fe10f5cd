import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeFrame } from '../src/order/frame.ts'
import { subjectOf } from '../src/jetstream/stream.ts'
import type { Log } from '../src/log.ts'
import type { NatsServer } from '../src/nats/start-server.ts'
import { describeLog } from './log.conformance.ts'
import { natsCluster, natsServer } from './support/nats.ts'
import { createLines, newStream, openNode } from './support/open-log.ts'
import { APPEND, SWAP, type TextView } from './support/text-view.ts'

let server: NatsServer
let nc: NatsConnection

beforeAll(async () => {
  server = await natsServer()
  nc = await connect({ servers: [server.url] })
})
afterAll(() => nc?.close())

const frameOf = (number: number, value: string) =>
  encodeFrame({ writer: 'ab'.repeat(8), number, entries: [{ kind: APPEND, term: 0, body: text(value) }] }, 1e6)[0]!

const text = (value: string) => Buffer.from(value)

describeLog('jetstream', () => {
  const stream = newStream()
  const open = async (view: TextView) => (await openNode(server.url, stream, { view })).log
  return { open, reopen: open }
})

describe('on several nodes', () => {
  it('has one order, and one outcome of each change', async () => {
    const stream = newStream()
    const nodes = [
      await openNode(server.url, stream),
      await openNode(server.url, stream),
      await openNode(server.url, stream),
    ]
    let swapped = 0
    for (let round = 0; round < 20; round++) {
      const done = await Promise.all(
        nodes.flatMap(({ log }, i) => [
          log.append(APPEND, text(`${round}.${i}`)),
          log.append<boolean>(SWAP, text(`${round || ''}>${round + 1}`)),
        ]),
      )
      swapped += done.filter(({ outcome }) => outcome === true).length
    }
    expect(swapped).toBe(20)
    const last = Math.max(...nodes.map(({ log }) => log.state.applied))
    await Promise.all(nodes.map(({ log }) => log.reached(last, 10_000)))
    expect(nodes[0]!.view.texts).toHaveLength(60)
    expect(new Set(nodes.map(({ view }) => view.digest())).size).toBe(1)
  })

  it('says which log it is, and has it where it is told to', async () => {
    const stream = newStream()
    const nodes = [
      await openNode(server.url, stream, { storage: 'memory' }),
      await openNode(server.url, stream),
      await openNode(server.url, newStream()),
    ]
    const [one, same, another] = nodes.map(({ log }) => log.epoch)
    expect(one).toBe(same)
    expect(another).not.toBe(one)
    const jsm = await jetstreamManager(nc)
    expect((await jsm.streams.info(stream)).config.storage).toBe('memory')
    const large = 'x'.repeat(3_000_000)
    const { seq } = await nodes[0]!.log.append(APPEND, text(large))
    await nodes[1]!.log.reached(seq, 10_000)
    expect(nodes[1]!.view.texts).toEqual([large])
  })

  it('makes what is acknowledged on one readable on another, by its place and by a barrier', async () => {
    const stream = newStream()
    const [one, other] = [await openNode(server.url, stream), await openNode(server.url, stream)]
    for (let i = 0; i < 20; i++) {
      const { seq } = await one.log.append(APPEND, text(String(i)))
      if (i % 2 === 0) await other.log.reached(seq, 10_000)
      else expect(await other.log.barrier()).toBeGreaterThan(seq)
      expect(other.view.texts).toHaveLength(i + 1)
    }
  })

  it('brings a node that comes later to where the others are', async () => {
    const stream = newStream()
    const one = await openNode(server.url, stream)
    for (let round = 0; round < 600; round++)
      await Promise.all([1, 2].map((i) => one.log.append(APPEND, text(`${round}.${i}`))))
    const other = await openNode(server.url, stream)
    expect(other.view.texts).toEqual(one.view.texts)
    expect(other.view.texts).toHaveLength(1_200)
  })

  it('has one holder of the lease, and fences what another sent before', async () => {
    const stream = newStream()
    const [one, other] = [await openNode(server.url, stream), await openNode(server.url, stream)]
    const first = one.log.lease(500)
    await first.held()
    const second = other.log.lease(500)
    const { term } = first
    await first.append(APPEND, text('first'))
    expect(second.term).toBeUndefined()
    await first.close()
    await second.held()
    expect(second.term).toBe(term! + 1)
    await second.append(APPEND, text('second'))
    await one.log.barrier()
    expect(one.view.texts).toEqual(['first', 'second'])
    await expect(first.append(APPEND, text('late'))).rejects.toMatchObject({ code: 'LEASE_LOST' })
  })
})

describe('a frame', () => {
  it('larger than a message is sent in parts, and applied whole', async () => {
    const stream = newStream()
    const [one, other] = [
      await openNode(server.url, stream, { maxBody: 20_000_000 }),
      await openNode(server.url, stream),
    ]
    const large = 'x'.repeat(9_000_000)
    const done = await Promise.all([
      one.log.append(APPEND, text(large)),
      other.log.append(APPEND, text('small')),
      other.log.append(APPEND, text(`${large}y`)),
    ])
    await Promise.all([one, other].map(({ log }) => log.reached(Math.max(...done.map(({ seq }) => seq)), 20_000)))
    expect(one.view.digest()).toBe(other.view.digest())
    expect(one.view.texts.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([5, 9_000_000, 9_000_001])
    const third = await openNode(server.url, stream)
    expect(third.view.digest()).toBe(one.view.digest())
  })

  it('that comes twice counts once, and one whose forerunner is missing does not', async () => {
    const stream = newStream()
    const { log, view } = await openNode(server.url, stream)
    const js = jetstream(nc)
    const put = (number: number, value: string) => js.publish(subjectOf(stream), frameOf(number, value))
    await put(1, 'one')
    await put(1, 'one')
    await put(3, 'three')
    await put(2, 'two')
    await put(1, 'one')
    await put(3, 'three')
    await log.barrier()
    expect(view.texts).toEqual(['one', 'two', 'three'])
  })

  it.each([
    ['of another format', Buffer.from([0x4c, 2, 0, 0, 0, 1, 0, 0, 0, 0]), 'LOG_FORMAT_UNKNOWN'],
    ['of somebody else', text('hello, log'), 'LOG_DAMAGED'],
    ['that is damaged', damaged(), 'LOG_DAMAGED'],
  ])('%s stops the node, at once and at the next start', async (_, message, code) => {
    const stream = newStream()
    const { lines, log: logger } = createLines()
    const fatal = Promise.withResolvers<Error>()
    const { log, view } = await openNode(server.url, stream, { log: logger, onFatal: fatal.resolve })
    await log.append(APPEND, text('before'))
    await jetstream(nc).publish(subjectOf(stream), message)
    expect(await fatal.promise).toMatchObject({
      code,
      message: expect.stringMatching(/^test: message 2 of stream .*; this node stops$/),
    })
    expect(lines.filter((line) => line.includes('this node stops'))).toHaveLength(1)
    await expect(log.append(APPEND, text('after'))).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    expect(view.texts).toEqual(['before'])
    await expect(openNode(server.url, stream, { view })).rejects.toMatchObject({ name: 'StartError', code })
  })

  function damaged(): Buffer {
    const [message] = encodeFrame(
      { writer: '00'.repeat(8), number: 1, entries: [{ kind: 1, term: 0, body: text('a') }] },
      1e6,
    )
    message![message!.length - 1]! ^= 1
    return message!
  }
})

describe('a view', () => {
  it('that takes nothing for a while gets the same again', async () => {
    const { log, view } = await openNode(server.url, newStream())
    await log.append(APPEND, text('a'))
    view.failures = 2
    await expect(log.append(APPEND, text('b'))).resolves.toMatchObject({ outcome: 2 })
    expect(view.texts).toEqual(['a', 'b'])
  })

  it('starts from a snapshot where the log begins later, also when it was away for too long', async () => {
    const stream = newStream()
    const one = await openNode(server.url, stream)
    await one.log.append(APPEND, text('0'))
    const away = await openNode(server.url, stream)
    await away.log.close()
    for (let i = 1; i < 10; i++) await one.log.append(APPEND, text(String(i)))
    const seq = await one.log.snapshot()
    await one.log.trim(seq)
    await one.log.append(APPEND, text('tail'))
    const info = await (await jetstreamManager(nc)).streams.info(stream)
    expect(info.state.first_seq).toBe(seq)
    const fresh = await openNode(server.url, stream)
    expect(fresh.view.texts).toEqual(one.view.texts)
    const back = await openNode(server.url, stream, { view: away.view })
    expect(back.view.texts).toEqual(one.view.texts)
    expect((await fresh.log.append(APPEND, text('more'))).outcome).toBe(12)
    await one.log.barrier()
    expect(fresh.view.digest()).toBe(one.view.digest())
  })

  it('does not start where the log was trimmed and there is no snapshot', async () => {
    const stream = newStream()
    const one = await openNode(server.url, stream)
    for (let i = 0; i < 5; i++) await one.log.append(APPEND, text(String(i)))
    await one.log.trim(4)
    const starting = openNode(server.url, stream, { patience: 0 })
    await expect(starting).rejects.toMatchObject({ name: 'StartError', code: 'LOG_TRIMMED' })
    // Who is further goes on.
    await openNode(server.url, stream, { view: one.view })
  })

  it.each([
    [
      'was made anew',
      async (stream: string) => {
        const jsm = await jetstreamManager(nc)
        const { config } = await jsm.streams.info(stream)
        await jsm.streams.delete(stream)
        await jsm.streams.add(config)
      },
    ],
  ])('stops, and does not start, where the stream %s', async (_, change) => {
    const stream = newStream()
    const fatal = Promise.withResolvers<Error>()
    const { log, view } = await openNode(server.url, stream, { onFatal: fatal.resolve })
    await log.append(APPEND, text('a'))
    await change(stream)
    expect(await fatal.promise).toMatchObject({ code: 'LOG_REPLACED' })
    await expect(openNode(server.url, stream, { view })).rejects.toMatchObject({
      name: 'StartError',
      code: 'LOG_REPLACED',
    })
  })

  it.each([
    ['and ends earlier', 0],
    ['and has gone on since', 3],
  ])('stops where the servers were put back %s', async (_, more) => {
    const folder = temporaryFolder()
    const own = await natsServer({ folder })
    const stream = newStream()
    const fatal = Promise.withResolvers<Error>()
    const { log, view } = await openNode(own.url, stream, { onFatal: fatal.resolve, patience: 500 })
    for (const value of ['a', 'b']) await log.append(APPEND, text(value))
    // A copy of the disk, taken while nothing goes on; put back later.
    cpSync(join(folder, 'data'), join(folder, 'copy'), { recursive: true })
    for (const value of ['c', 'd']) await log.append(APPEND, text(value))
    await own.stop()
    rmSync(join(folder, 'data'), { recursive: true })
    renameSync(join(folder, 'copy'), join(folder, 'data'))
    await own.restart()
    const js = await connect({ servers: [own.url] })
    for (let i = 1; i <= more; i++) await jetstream(js).publish(subjectOf(stream), frameOf(i, `other ${i}`))
    await js.close()
    expect(await fatal.promise).toMatchObject({ code: 'LOG_REPLACED' })
    expect(view.texts).toEqual(['a', 'b', 'c', 'd'])
    await expect(openNode(own.url, stream, { view, patience: 500 })).rejects.toMatchObject({
      name: 'StartError',
      code: 'LOG_REPLACED',
    })
  })

  it('does not start where the log holds something else at its place', async () => {
    const stream = newStream()
    const { log, view } = await openNode(server.url, stream)
    await log.append(APPEND, text('a'))
    await log.close()
    view.kept = { ...view.kept!, check: view.kept!.check ^ 1 }
    await expect(openNode(server.url, stream, { view })).rejects.toMatchObject({
      name: 'StartError',
      code: 'LOG_REPLACED',
    })
    view.kept = { ...view.kept, seq: 100 }
    await expect(openNode(server.url, stream, { view, patience: 300 })).rejects.toMatchObject({
      name: 'StartError',
      code: 'LOG_REPLACED',
    })
  })
})

describe('without the server', () => {
  /** Appends it, again and again until it is known to be there. */
  const atLast = (log: Log, value: string) =>
    until(() =>
      log.append(APPEND, text(value)).then(
        () => true,
        () => false,
      ),
    )

  it('says that nothing was sent, goes on when it is back, and loses nothing', async () => {
    const own = await natsServer()
    const stream = newStream()
    const { log, view } = await openNode(own.url, stream, { appendTimeout: 500 })
    await atLast(log, 'a')
    await own.stop()
    await until(() =>
      log.append(APPEND, text('lost')).then(
        () => false,
        ({ code }) => code === 'LOG_UNAVAILABLE',
      ),
    )
    await own.restart()
    await atLast(log, 'b')
    expect(view.texts[0]).toBe('a')
    expect(view.texts.at(-1)).toBe('b')
    const other = await openNode(own.url, stream)
    expect(other.view.texts).toEqual(view.texts)
  })

  it('says that nothing was sent, where nobody is there to take it', async () => {
    const stream = newStream()
    const { log } = await openNode(server.url, stream, { appendTimeout: 300 })
    await atLast(log, 'a')
    await (await jetstreamManager(nc)).streams.delete(stream)
    await expect(log.append(APPEND, text('b'))).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
      status: 503,
      headers: { 'retry-after': '1' },
    })
  })

  it('says that the outcome is not known, where the server stands still, and what comes later counts once', async () => {
    const own = await natsServer()
    const stream = newStream()
    const { log, view } = await openNode(own.url, stream, { appendTimeout: 300 })
    await atLast(log, 'a')
    await own.halt()
    await expect(log.append(APPEND, text('b'))).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    own.goOn()
    await atLast(log, 'c')
    expect(view.texts.filter((one) => one === 'b').length).toBeLessThanOrEqual(1)
    expect(view.texts.filter((one) => one === 'c').length).toBeGreaterThanOrEqual(1)
    const other = await openNode(own.url, stream)
    expect(other.view.digest()).toBe(view.digest())
  })

  it('does not start, nor say that it is up to date, by what a server tells that was left alone', async () => {
    const servers = await natsCluster()
    const stream = newStream()
    const all = await openNode(servers[0]!.url, stream, { replicas: 3 })
    await all.log.append(APPEND, text('a'))
    const asking = await connect({ servers: [servers[0]!.url] })
    const { cluster } = await (await jetstreamManager(asking)).streams.info(stream)
    await asking.close()
    const left = servers[Number(cluster!.leader!.replace('server-', '')) - 1]!
    const { log } = await openNode(left.url, stream)
    await Promise.all(servers.map((one) => one !== left && one.halt()))
    await until(() => log.state.contact < steadyNow() - 2_000)
    const starting = openNode(left.url, stream, { startTimeout: 2_000 })
    await expect(starting).rejects.toMatchObject({ code: 'LOG_UNREACHABLE' })
    expect(log.state.contact).toBeLessThan(steadyNow() - 4_000)
    for (const one of servers) one.goOn()
    await until(() => log.state.contact > steadyNow() - 2_500)
    const other = await until(() => openNode(left.url, stream).catch(() => undefined))
    expect(other.view.texts).toEqual(['a'])
  })
})

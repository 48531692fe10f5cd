import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PEER_TIMEOUT_MS } from '../src/jetstream/stream/quorum.ts'
import { toSubject } from '../src/jetstream/stream/stream.ts'
import type { Log } from '../src/log.ts'
import type { NatsServer } from '../src/nats/start-server.ts'
import { startTestNatsCluster, startTestNatsServer } from './support/nats.ts'
import { createLogCapture, createStreamName, openTestLog } from './support/open-log.ts'
import { toBuffer, toFrame } from './support/text-frames.ts'
import { APPEND_KIND, TextStateMachine } from './support/text-state-machine.ts'

let server: NatsServer
let nc: NatsConnection

beforeAll(async () => {
  server = await startTestNatsServer()
  nc = await connect({ servers: [server.url] })
})
afterAll(() => nc?.close())

describe('a state machine', () => {
  it('that rejects entries for a while receives them again', async () => {
    const { log, stateMachine: machine } = await openTestLog(server.url, createStreamName())
    await log.append(APPEND_KIND, toBuffer('a'))
    machine.failureCount = 2
    await expect(log.append(APPEND_KIND, toBuffer('b'))).resolves.toMatchObject({ outcome: 2 })
    expect(machine.texts).toEqual(['a', 'b'])
  })

  it('starts from a snapshot if the log was trimmed, also after a long outage of the node', async () => {
    const stream = createStreamName()
    const one = await openTestLog(server.url, stream)
    await one.log.append(APPEND_KIND, toBuffer('0'))
    const absent = await openTestLog(server.url, stream)
    await absent.log.close()
    for (let i = 1; i < 10; i++) await one.log.append(APPEND_KIND, toBuffer(String(i)))
    const seq = await one.log.snapshot()
    await one.log.trim(seq)
    await one.log.append(APPEND_KIND, toBuffer('tail'))
    const info = await (await jetstreamManager(nc)).streams.info(stream)
    expect(info.state.first_seq).toBe(seq)
    const joined = await openTestLog(server.url, stream)
    expect(joined.stateMachine.texts).toEqual(one.stateMachine.texts)
    const back = await openTestLog(server.url, stream, { stateMachine: absent.stateMachine })
    expect(back.stateMachine.texts).toEqual(one.stateMachine.texts)
    expect((await joined.log.append(APPEND_KIND, toBuffer('more'))).outcome).toBe(12)
    await one.log.barrier()
    expect(joined.stateMachine.toDigest()).toBe(one.stateMachine.toDigest())
  })

  it('starts from a newer snapshot if the log is trimmed while the node reads it', async () => {
    const stream = createStreamName()
    const one = await openTestLog(server.url, stream)
    // More than a starting node reads before it has applied the first entries.
    for (let i = 0; i < 40; i++) await one.log.append(APPEND_KIND, Buffer.alloc(900_000, String(i)))
    const hasBegun = Promise.withResolvers<void>()
    const mayContinue = Promise.withResolvers<void>()
    class SlowStateMachine extends TextStateMachine {
      override async apply(...args: Parameters<TextStateMachine['apply']>): Promise<unknown[]> {
        hasBegun.resolve()
        await mayContinue.promise
        return super.apply(...args)
      }
    }
    const stateMachine = new SlowStateMachine()
    const { lines, log } = createLogCapture()
    const starting = openTestLog(server.url, stream, { stateMachine, log })
    await hasBegun.promise
    await one.log.trim(await one.log.snapshot())
    mayContinue.resolve()
    const { log: started } = await starting
    expect(stateMachine.toDigest()).toBe(one.stateMachine.toDigest())
    expect((await started.append(APPEND_KIND, toBuffer('more'))).outcome).toBe(41)
    await one.log.barrier()
    expect(one.stateMachine.texts.at(-1)).toBe('more')
    expect(lines.filter((line) => line.includes('starts again from a newer snapshot'))).toHaveLength(1)
    expect(lines.join('\n')).not.toContain('this node stops')
  })

  it('does not start if the log was trimmed and there is no snapshot', async () => {
    const stream = createStreamName()
    const one = await openTestLog(server.url, stream)
    for (let i = 0; i < 5; i++) await one.log.append(APPEND_KIND, toBuffer(String(i)))
    await one.log.trim(4)
    const starting = openTestLog(server.url, stream, { verifyTimeout: 0 })
    await expect(starting).rejects.toMatchObject({ name: 'StartError', code: 'LOG_TRIMMED' })
    // A node with a later position continues.
    await openTestLog(server.url, stream, { stateMachine: one.stateMachine })
  })

  it('is without its log while the stream was recreated, now and after a restart', async () => {
    const stream = createStreamName()
    const { log, stateMachine: machine } = await openTestLog(server.url, stream)
    await log.append(APPEND_KIND, toBuffer('a'))
    const jsm = await jetstreamManager(nc)
    const { config } = await jsm.streams.info(stream)
    await jsm.streams.delete(stream)
    await jsm.streams.add(config)
    await waitUntil(() => log.availability.code === 'LOG_LOST')
    await expect(openTestLog(server.url, stream, { stateMachine: machine })).rejects.toMatchObject({ code: 'LOG_LOST' })
    expect(machine.texts).toEqual(['a'])
  })

  it.each([
    ['to a shorter log', 0],
    ['and then continue with other frames', 3],
  ])('is without its log while the servers are restored %s', async (_, more) => {
    const folder = createTemporaryFolder()
    const ownServer = await startTestNatsServer({ folder })
    const stream = createStreamName()
    const { log, stateMachine: machine } = await openTestLog(ownServer.url, stream, { verifyTimeout: 500 })
    for (const value of ['a', 'b']) await log.append(APPEND_KIND, toBuffer(value))
    // A copy of the disk without writes in progress, restored later.
    cpSync(join(folder, 'data'), join(folder, 'copy'), { recursive: true })
    for (const value of ['c', 'd']) await log.append(APPEND_KIND, toBuffer(value))
    await ownServer.stop()
    rmSync(join(folder, 'data'), { recursive: true })
    renameSync(join(folder, 'copy'), join(folder, 'data'))
    await ownServer.restart()
    const js = await connect({ servers: [ownServer.url] })
    for (let i = 1; i <= more; i++) await jetstream(js).publish(toSubject(stream), toFrame(i, `other ${i}`))
    await js.close()
    await waitUntil(() => log.availability.code === 'LOG_LOST')
    await expect(log.append(APPEND_KIND, toBuffer('e'))).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
      detail: 'LOG_LOST',
    })
    expect(machine.texts).toEqual(['a', 'b', 'c', 'd'])
    await expect(
      openTestLog(ownServer.url, stream, { stateMachine: machine, verifyTimeout: 500 }),
    ).rejects.toMatchObject({ code: 'LOG_LOST' })
  })

  it('does not start if the log has another message at its sequence', async () => {
    const stream = createStreamName()
    const { log, stateMachine: machine } = await openTestLog(server.url, stream)
    await log.append(APPEND_KIND, toBuffer('a'))
    await log.close()
    machine.savedPosition = { ...machine.savedPosition!, check: machine.savedPosition!.check ^ 1 }
    await expect(openTestLog(server.url, stream, { stateMachine: machine })).rejects.toMatchObject({
      name: 'StartError',
      code: 'LOG_LOST',
    })
    machine.savedPosition = { ...machine.savedPosition, seq: 100 }
    await expect(openTestLog(server.url, stream, { stateMachine: machine, verifyTimeout: 300 })).rejects.toMatchObject({
      name: 'StartError',
      code: 'LOG_LOST',
    })
  })
})

describe('without the server', () => {
  /** Appends an entry, and retries until it is known to be stored. */
  const appendUntilStored = (log: Log, value: string) =>
    waitUntil(() =>
      log.append(APPEND_KIND, toBuffer(value)).then(
        () => true,
        () => false,
      ),
    )

  it('reports LOG_UNAVAILABLE, continues after the reconnection, and loses no entry', async () => {
    const ownServer = await startTestNatsServer()
    const stream = createStreamName()
    const { log, stateMachine: machine } = await openTestLog(ownServer.url, stream, { appendTimeout: 500 })
    await appendUntilStored(log, 'a')
    await ownServer.stop()
    await waitUntil(() =>
      log.append(APPEND_KIND, toBuffer('lost')).then(
        () => false,
        ({ code }) => code === 'LOG_UNAVAILABLE',
      ),
    )
    await ownServer.restart()
    await appendUntilStored(log, 'b')
    expect(machine.texts[0]).toBe('a')
    expect(machine.texts.at(-1)).toBe('b')
    const other = await openTestLog(ownServer.url, stream)
    expect(other.stateMachine.texts).toEqual(machine.texts)
  })

  it('reports LOG_UNAVAILABLE if the stream has no responder', async () => {
    const stream = createStreamName()
    const { log } = await openTestLog(server.url, stream, { appendTimeout: 300 })
    await appendUntilStored(log, 'a')
    await (await jetstreamManager(nc)).streams.delete(stream)
    await expect(log.append(APPEND_KIND, toBuffer('b'))).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
      status: 503,
      headers: { 'retry-after': '1' },
    })
  })

  it('reports OUTCOME_UNKNOWN if the server is suspended, and a frame that arrives later counts once', async () => {
    const ownServer = await startTestNatsServer()
    const stream = createStreamName()
    const { log, stateMachine: machine } = await openTestLog(ownServer.url, stream, { appendTimeout: 300 })
    await appendUntilStored(log, 'a')
    await ownServer.suspend()
    await expect(log.append(APPEND_KIND, toBuffer('b'))).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    ownServer.resume()
    await appendUntilStored(log, 'c')
    expect(machine.texts.filter((one) => one === 'b').length).toBeLessThanOrEqual(1)
    expect(machine.texts.filter((one) => one === 'c').length).toBeGreaterThanOrEqual(1)
    const other = await openTestLog(ownServer.url, stream)
    expect(other.stateMachine.toDigest()).toBe(machine.toDigest())
  })

  it('neither starts nor reports fresh data with the info of an isolated server', async () => {
    const servers = await startTestNatsCluster()
    const stream = createStreamName()
    const all = await openTestLog(servers[0]!.url, stream, { replicas: 3 })
    await all.log.append(APPEND_KIND, toBuffer('a'))
    const opening = await connect({ servers: [servers[0]!.url] })
    const { cluster } = await (await jetstreamManager(opening)).streams.info(stream)
    await opening.close()
    const left = servers[Number(cluster!.leader!.replace('server-', '')) - 1]!
    const { log } = await openTestLog(left.url, stream)
    await Promise.all(servers.map((one) => one !== left && one.suspend()))
    // Until then, the info of the isolated server still counts.
    const end = steadyNow() + PEER_TIMEOUT_MS + 4_000
    await waitUntil(() => steadyNow() > end && log.state.lastContactAt < steadyNow() - 2_000)
    const { lastContactAt } = log.state
    const starting = openTestLog(left.url, stream, { startTimeout: 2_000 })
    await expect(starting).rejects.toMatchObject({ code: 'LOG_UNREACHABLE' })
    expect(log.state.lastContactAt).toBe(lastContactAt)
    for (const one of servers) one.resume()
    await waitUntil(() => log.state.lastContactAt > steadyNow() - 2_500)
    const other = await waitUntil(() => openTestLog(left.url, stream).catch(() => undefined))
    expect(other.stateMachine.texts).toEqual(['a'])
  })
})

import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import type { LogAvailability } from '../src/availability.ts'
import { createLogStateMemory, createWriteReadiness, getSharedAvailability } from '../src/log-state.ts'
import { openJetStreamLog } from '../src/jetstream/jetstream-log.ts'
import type { JetStreamLogOptions } from '../src/jetstream/options.ts'
import type { NatsServer } from '../src/nats/start-server.ts'
import { deleteStream, startTestNatsServer } from './support/nats.ts'
import { createLogCapture, createStreamName, openTestLog } from './support/open-log.ts'
import { toBuffer } from './support/text-frames.ts'
import { APPEND_KIND, TextStateMachine } from './support/text-state-machine.ts'

let server: NatsServer
beforeAll(async () => void (server = await startTestNatsServer()))

/** Opens the log of a node that may be without its servers. */
async function openLog(url: string, stream: string, options: Partial<JetStreamLogOptions> = {}) {
  const { lines, log: logger } = createLogCapture()
  const changes: (readonly [LogAvailability['code'], boolean])[] = []
  const fatal = Promise.withResolvers<Error>()
  const stateMachine = (options.stateMachine as TextStateMachine | undefined) ?? new TextStateMachine()
  const log = await openJetStreamLog({
    service: 'test',
    stream,
    nats: { servers: [url] },
    replicas: 1,
    log: logger,
    appendTimeout: 15_000,
    startTimeout: 0,
    onAvailability: ({ code }, isEmpty) => void (code !== changes.at(-1)?.[0] && changes.push([code, isEmpty])),
    onFatal: fatal.resolve,
    ...options,
    stateMachine,
  })
  onTestFinished(() => log.close())
  const append = (text: string) => log.append<number>(APPEND_KIND, toBuffer(text))
  const waitForCode = (code: string) => waitUntil(() => log.availability.code === code)
  return { log, stateMachine, lines, changes, append, waitForCode, fatal: fatal.promise }
}

it('a node with state starts without servers, refuses writes at once, and attaches later', async () => {
  const ownServer = await startTestNatsServer()
  const stream = createStreamName()
  const first = await openTestLog(ownServer.url, stream)
  await first.log.append(APPEND_KIND, toBuffer('a'))
  await first.log.close()
  await ownServer.stop()
  const { stateMachine } = first
  // It does not wait for this time.
  const node = await openLog(ownServer.url, stream, { stateMachine, startTimeout: 3_600_000 })
  expect(node.log.availability).toMatchObject({ code: 'NATS_UNREACHABLE', since: expect.any(String) })
  expect([node.log.isEmpty, node.log.state.applied, node.log.epoch]).toEqual([false, 1, first.log.epoch])
  for (const refused of [node.append('b'), node.log.barrier()])
    await expect(refused).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE', detail: 'NATS_UNREACHABLE' })
  await expect(node.log.snapshot()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  await node.log.waitForSequence(1, 1)
  const lease = node.log.openLease(60_000)
  const ahead = node.log.waitForSequence(2, 60_000)
  await ownServer.restart()
  await node.waitForCode('READY')
  expect((await node.append('b')).outcome).toBe(2)
  await ahead
  await lease.waitUntilHeld()
  expect(node.changes).toEqual([
    ['NATS_UNREACHABLE', false],
    ['READY', false],
  ])
  expect(node.lines.filter((line) => line.includes('is unavailable'))).toHaveLength(1)
  expect(node.lines.filter((line) => line.includes('is available again'))).toHaveLength(1)
})

it('a node without state starts empty, and has state once it attaches', async () => {
  const port = await findFreePort()
  const node = await openLog(`nats://127.0.0.1:${port}`, createStreamName())
  expect([node.log.isEmpty, node.changes.at(-1)]).toEqual([true, ['NATS_UNREACHABLE', true]])
  const late = await startTestNatsServer({ port })
  await node.waitForCode('READY')
  expect([node.log.isEmpty, node.changes.at(-1)]).toEqual([false, ['READY', false]])
  expect((await node.append('a')).outcome).toBe(1)
  await late.stop()
})

it('a node without state whose threads know the epoch restarts to join', async () => {
  const port = await findFreePort()
  const node = await openLog(`nats://127.0.0.1:${port}`, createStreamName(), { restartsToJoin: true })
  await startTestNatsServer({ port })
  expect(await node.fatal).toMatchObject({ message: 'test: the log is available; this node restarts to load it' })
  expect(node.log.isEmpty).toBe(true)
})

it('a running node whose stream is deleted serves reads, and never creates the stream', async () => {
  const stream = createStreamName()
  const node = await openLog(server.url, stream, { verifyTimeout: 500 })
  await node.append('a')
  await deleteStream(server.url, stream)
  await node.waitForCode('LOG_LOST')
  await expect(node.append('b')).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE', detail: 'LOG_LOST' })
  const { stateMachine } = node
  const again = await openLog(server.url, stream, { stateMachine })
  await again.waitForCode('LOG_LOST')
  expect([again.log.isEmpty, again.log.state.applied]).toEqual([false, 1])
  const nc = await connect({ servers: server.url })
  onTestFinished(() => nc.close())
  await expect((await jetstreamManager(nc)).streams.info(stream)).rejects.toThrow()
})

it('refuses writes at once after a while without servers, and resumes with them', async () => {
  const ownServer = await startTestNatsServer()
  const node = await openLog(ownServer.url, createStreamName())
  await node.append('a')
  await ownServer.stop()
  await node.waitForCode('NATS_UNREACHABLE')
  await expect(node.append('b')).rejects.toMatchObject({ detail: 'NATS_UNREACHABLE' })
  await ownServer.restart()
  await node.waitForCode('READY')
  expect((await node.append('b')).outcome).toBe(2)
})

it('restarts to load a snapshot if its log was trimmed while it was away', async () => {
  const ownServer = await startTestNatsServer()
  const stream = createStreamName()
  const one = await openTestLog(ownServer.url, stream)
  await one.log.append(APPEND_KIND, toBuffer('a'))
  const absent = await openTestLog(ownServer.url, stream)
  await absent.log.close()
  for (const text of ['b', 'c', 'd']) await one.log.append(APPEND_KIND, toBuffer(text))
  await one.log.trim(await one.log.snapshot())
  await one.log.append(APPEND_KIND, toBuffer('e'))
  await one.log.close()
  await ownServer.stop()
  const { stateMachine } = absent
  const node = await openLog(ownServer.url, stream, { stateMachine })
  await ownServer.restart()
  expect((await node.fatal).message).toMatch(/restarts to load a snapshot$/)
  expect(stateMachine.texts).toEqual(['a'])
  await node.log.close()
  const back = await openTestLog(ownServer.url, stream, { stateMachine })
  expect(back.stateMachine.texts).toEqual(one.stateMachine.texts)
})

it('shows the availability to all threads', async () => {
  const memory = createLogStateMemory()
  const [shared, readiness] = [getSharedAvailability(memory), createWriteReadiness(memory)]
  expect([readiness.getWriteFault(), readiness.getReadFault()]).toEqual([undefined, undefined])
  const fault = {
    code: 'LOG_LOST',
    detail: `the stream ${'x'.repeat(5_000)}`,
    since: new Date().toISOString(),
  } as const
  shared.write(fault)
  shared.isEmpty = true
  expect(readiness.getWriteFault()).toEqual({ ...fault, detail: fault.detail.slice(0, 200) })
  expect(readiness.getReadFault()).toMatchObject({ code: 'LOG_UNAVAILABLE', status: 503, detail: 'LOG_LOST' })
  const readable = readiness.waitUntilReadable()
  shared.write({ code: 'READY' })
  shared.isEmpty = false
  await readable
  expect([readiness.getWriteFault(), readiness.getReadFault()]).toEqual([undefined, undefined])
})

it('a node that joins a log with entries prints its cluster, stream and size in one line', async () => {
  const stream = createStreamName()
  const first = await openLog(server.url, stream, { cluster: 'staging' })
  await first.append('a')
  const second = await openLog(server.url, stream, { cluster: 'staging' })
  expect(first.lines.filter((line) => line.includes('joined'))).toEqual([])
  expect(second.lines.filter((line) => line.includes('joined'))).toEqual([
    expect.stringContaining(`test: joined the log of cluster staging (stream ${stream}, 1 entries, created `),
  ])
})

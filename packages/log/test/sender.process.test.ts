import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { createSender } from '../src/jetstream/sender.ts'
import { toSubject } from '../src/jetstream/stream/stream.ts'
import { connectTestNats } from './support/nats.ts'

let nc: NatsConnection
let jsm: JetStreamManager
beforeAll(async () => void ({ nc, jsm } = await connectTestNats()))

let streams = 0

async function startSender(config?: object) {
  const stream = `sender-${++streams}`
  if (config) await jsm.streams.add({ name: stream, subjects: [toSubject(stream)], allow_atomic: true, ...config })
  const sender = createSender(nc, stream)
  onTestFinished(() => sender.close())
  const readText = async (seq: number) => Buffer.from((await jsm.streams.getMessage(stream, { seq }))!.data).toString()
  return {
    ...sender,
    stream,
    readText,
    send: (...parts: string[]) => sender.send(parts.map((part) => Buffer.from(part))),
  }
}

it('resolves with the sequence of the last message of a frame', async () => {
  const { send, readText } = await startSender({})
  expect(await Promise.all([send('a'), send('b')])).toEqual([
    { kind: 'stored', seq: 1 },
    { kind: 'stored', seq: 2 },
  ])
  expect(await send('c', 'd', 'e')).toEqual({ kind: 'stored', seq: 5 })
  expect([await readText(1), await readText(2), await readText(5)]).toEqual(['a', 'b', 'e'])
})

it('reports not-sent if the stream has no responder', async () => {
  const { send } = await startSender()
  expect(await send('a')).toMatchObject({ kind: 'not-sent' })
  expect(await send('a', 'b')).toMatchObject({ kind: 'not-sent' })
})

it('does not treat a rejection as stored', async () => {
  const { send } = await startSender({ max_msgs: 1, discard: 'new' })
  expect(await send('a')).toMatchObject({ kind: 'stored' })
  expect(await send('b')).toMatchObject({ kind: 'unknown', cause: { message: expect.stringContaining('maximum') } })
})

it('reports unknown for a frame without an acknowledgement in time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { send, stream } = await startSender()
  // A subscriber receives it and does not reply.
  const subscription = nc.subscribe(toSubject(stream))
  onTestFinished(() => subscription.unsubscribe())
  const sent = send('a')
  vi.advanceTimersByTime(60_000)
  expect(await sent).toMatchObject({ kind: 'unknown' })
})

it('reports unknown for pending frames when it is closed', async () => {
  const { send, stream, close } = await startSender()
  const subscription = nc.subscribe(toSubject(stream))
  onTestFinished(() => subscription.unsubscribe())
  const sent = send('a')
  close()
  expect(await sent).toMatchObject({ kind: 'unknown' })
})

import { connect } from '@nats-io/transport-node'
import { expect, it, onTestFinished } from 'vitest'
import type { Log } from '../src/log.ts'
import { toSubject } from '../src/jetstream/stream/stream.ts'
import { startTestNatsServer } from './support/nats.ts'
import { createLogCapture, createStreamName, openTestLog } from './support/open-log.ts'
import { toBuffer, toFrame } from './support/text-frames.ts'
import { APPEND_KIND } from './support/text-state-machine.ts'

it('foreign messages between the writes of two nodes change nothing, also at a restart', async () => {
  const { url } = await startTestNatsServer()
  const nc = await connect({ servers: url })
  onTestFinished(() => nc.close())
  const stream = createStreamName()
  const { lines, log: logger } = createLogCapture()
  const skipped: string[] = []
  const first = await openTestLog(url, stream, { log: logger, onSkip: (reason) => void skipped.push(reason) })
  const second = await openTestLog(url, stream)
  const damaged = toFrame(1, 'never')
  damaged[damaged.length - 1]! ^= 1
  const appended: string[] = []
  async function write(log: Log, name: string) {
    for (let i = 0; i < 60; i++) {
      await log.append(APPEND_KIND, toBuffer(`${name} ${i}`))
      appended.push(`${name} ${i}`)
      if (i % 3 === 0) nc.publish(toSubject(stream), i % 2 === 0 ? 'hello' : damaged)
    }
  }
  await Promise.all([write(first.log, 'a'), write(second.log, 'b')])
  await second.log.close()
  nc.publish(toSubject(stream), 'hello')
  await nc.flush()
  const back = await openTestLog(url, stream, { stateMachine: second.stateMachine })
  await Promise.all([write(first.log, 'c'), write(back.log, 'd')])
  const fresh = await openTestLog(url, stream)
  await Promise.all([first, back, fresh].map(({ log }) => log.barrier()))
  expect(first.stateMachine.texts.toSorted()).toEqual(appended.toSorted())
  expect(back.stateMachine.toDigest()).toBe(first.stateMachine.toDigest())
  expect(fresh.stateMachine.toDigest()).toBe(first.stateMachine.toDigest())
  expect(skipped.filter((reason) => reason === 'foreign')).toHaveLength(41)
  expect(skipped.filter((reason) => reason === 'damaged')).toHaveLength(40)
  expect(lines.filter((line) => line.includes('skipped message'))).toHaveLength(1)
})

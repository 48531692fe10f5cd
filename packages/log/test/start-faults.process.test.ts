import type { StartError } from '@influencer-stats/runtime/errors'
import { connect } from '@nats-io/transport-node'
import { expect, it, onTestFinished } from 'vitest'
import { openJetStreamLog } from '../src/jetstream/jetstream-log.ts'
import { openStream } from '../src/jetstream/stream/stream.ts'
import { startTestNatsServer } from './support/nats.ts'
import { createLogCapture, createStreamName, openTestLog } from './support/open-log.ts'
import { toBuffer } from './support/text-frames.ts'
import { APPEND_KIND, TextStateMachine } from './support/text-state-machine.ts'

async function openWithoutLog(
  url: string,
  stream: string,
  startTimeout: number,
  stateMachine = new TextStateMachine(),
) {
  const { lines, log: logger } = createLogCapture()
  const options = { service: 'test', stream, replicas: 1, appendTimeout: 15_000, startTimeout }
  const log = await openJetStreamLog({ ...options, nats: { servers: [url] }, log: logger, stateMachine })
  onTestFinished(() => log.close())
  return { ...log.availability, lines: lines.filter((line) => line.includes('is unavailable')) }
}

it('explains each failure that it retries', async () => {
  const { url } = await startTestNatsServer({ jetstream: false })
  const nc = await connect({ servers: [url] })
  onTestFinished(() => nc.close())
  const abort = new AbortController()
  const retried: StartError[] = []
  const opening = openStream(nc, {
    service: 'test',
    stream: createStreamName(),
    replicas: 1,
    timeout: 60_000,
    canCreate: true,
    signal: abort.signal,
    onRetry(error) {
      retried.push(error)
      if (retried.length === 2) abort.abort()
    },
  })
  await expect(opening).rejects.toThrow()
  expect(retried.map(({ code }) => code)).toEqual(['JETSTREAM_OFF', 'JETSTREAM_OFF'])
})

// Between two tries of one attempt, and at its end.
it.each([0, 400, 2_900])('reports the reason if the start ends after %d ms', async (startTimeout) => {
  const { url } = await startTestNatsServer({ jetstream: false })
  const { lines, ...availability } = await openWithoutLog(url, createStreamName(), startTimeout)
  expect(availability).toMatchObject({ code: 'JETSTREAM_OFF' })
  expect(lines).toHaveLength(1)
})

it('reports the reason if the start ends before the attempt', async () => {
  const { url } = await startTestNatsServer()
  const stream = createStreamName()
  const { log, stateMachine } = await openTestLog(url, stream)
  await log.append(APPEND_KIND, toBuffer('a'))
  await log.close()
  stateMachine.savedPosition = { ...stateMachine.savedPosition!, seq: 100 }
  const { lines, ...availability } = await openWithoutLog(url, stream, 0, stateMachine)
  expect(availability).toMatchObject({ code: 'LOG_UNREACHABLE', detail: expect.stringMatching(/ends at 1, .* 100$/) })
  expect(lines).toHaveLength(1)
})

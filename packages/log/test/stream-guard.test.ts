import { expect, it, onTestFinished } from 'vitest'
import { createStreamGuard } from '../src/jetstream/stream/stream-guard.ts'
import { encodeFrame, readPart } from '../src/order/frame.ts'

const message = encodeFrame({ writer: '00'.repeat(8), number: 1, entries: [] }, 1_000)[0]!
const { check } = readPart(message)

/** Stream with the given replies of its servers, in order; the last one repeats. */
function createTestGuard(
  responses: readonly ('shorter' | 'away' | 'alone' | 'same' | 'other' | 'anew')[],
  verifyTimeout = 2_000,
) {
  const calls: string[] = []
  const ended = Promise.withResolvers<void>()
  let requestCount = 0
  let response = responses[0]!
  const jsm = {
    streams: {
      async info() {
        response = responses[Math.min(requestCount++, responses.length - 1)]!
        if (response === 'away') throw new Error('timeout')
        const cluster = { leader: 'a', replicas: [{ active: 60e9 }, { active: 60e9 }] }
        return {
          created: response === 'anew' || response === 'alone' ? 'f' : 'e',
          state: { first_seq: 1, last_seq: response === 'shorter' || response === 'alone' ? 4 : 9 },
          ...(response === 'alone' && { cluster: cluster }),
        }
      },
      getMessage: async () => ({ data: response === 'other' ? Buffer.from('other') : message }),
    },
  }
  const guard = createStreamGuard({
    jsm: jsm as never,
    stream: 's',
    verifyTimeout,
    getIdentity: () => ({ epoch: 'e', seq: 5, check }),
    pause: () => void calls.push('hold'),
    resume: () => void (calls.push('release'), ended.resolve()),
    onFatal: (error) => void (calls.push((error as { code?: string }).code!), ended.resolve()),
  })
  onTestFinished(() => guard.close())
  return { guard, calls, ended: ended.promise }
}

it.each([
  [['same'], ['hold', 'release']],
  // A server that was suspended believes for a moment that it is the leader.
  [
    ['shorter', 'shorter', 'same'],
    ['hold', 'release'],
  ],
  [
    ['away', 'away', 'same'],
    ['hold', 'release'],
  ],
  [
    ['away', 'other'],
    ['hold', 'LOG_LOST'],
  ],
  [['anew'], ['hold', 'LOG_LOST']],
  [['shorter'], ['hold', 'LOG_LOST']],
] as const)('holds what comes until the stream is known: %j gives %j', async (responses, expected) => {
  // Only replies that stay the same need the time-out.
  const { guard, calls, ended } = createTestGuard(responses, responses.length > 1 ? 60_000 : 2_000)
  guard.verify()
  await ended
  expect(calls).toEqual(expected)
})

it('checks again after a request during a check, and after a later one', async () => {
  const { guard, calls, ended } = createTestGuard(['same'])
  guard.verify()
  guard.verify()
  await ended
  expect(calls).toEqual(['hold', 'release'])
})

it('ignores an isolated server, however long its info contradicts the applied entries', async () => {
  const { guard, calls, ended } = createTestGuard(['alone', 'alone', 'same'], 0)
  guard.verify()
  await ended
  expect(calls).toEqual(['hold', 'release'])
})

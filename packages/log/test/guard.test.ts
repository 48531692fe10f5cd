import { expect, it, onTestFinished } from 'vitest'
import { createGuard } from '../src/jetstream/guard.ts'
import { encodeFrame, readPart } from '../src/order/frame.ts'

const message = encodeFrame({ writer: '00'.repeat(8), number: 1, entries: [] }, 1_000)[0]!
const { check } = readPart(message)

/** A stream as servers tell of it, one answer after the other; the last one stays. */
function guarded(answers: readonly ('shorter' | 'away' | 'alone' | 'same' | 'other' | 'anew')[], patience = 2_000) {
  const said: string[] = []
  const ended = Promise.withResolvers<void>()
  let asked = 0
  let answer = answers[0]!
  const jsm = {
    streams: {
      async info() {
        answer = answers[Math.min(asked++, answers.length - 1)]!
        if (answer === 'away') throw new Error('timeout')
        const alone = { leader: 'a', replicas: [{ active: 60e9 }, { active: 60e9 }] }
        return {
          created: answer === 'anew' || answer === 'alone' ? 'f' : 'e',
          state: { first_seq: 1, last_seq: answer === 'shorter' || answer === 'alone' ? 4 : 9 },
          ...(answer === 'alone' && { cluster: alone }),
        }
      },
      getMessage: async () => ({ data: answer === 'other' ? Buffer.from('other') : message }),
    },
  }
  const guard = createGuard({
    jsm: jsm as never,
    stream: 's',
    patience,
    ground: () => ({ epoch: 'e', seq: 5, check }),
    hold: () => void said.push('hold'),
    release: () => void (said.push('release'), ended.resolve()),
    onFatal: (error) => void (said.push((error as { code?: string }).code!), ended.resolve()),
  })
  onTestFinished(() => guard.close())
  return { guard, said, ended: ended.promise }
}

it.each([
  [['same'], ['hold', 'release']],
  // One that stood still takes itself for the leader for a moment.
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
    ['hold', 'LOG_REPLACED'],
  ],
  [['anew'], ['hold', 'LOG_REPLACED']],
  [['shorter'], ['hold', 'LOG_REPLACED']],
] as const)('holds what comes until the stream is known: %j gives %j', async (answers, expected) => {
  const { guard, said, ended } = guarded(answers)
  guard.suspect()
  await ended
  expect(said).toEqual(expected)
})

it('looks again where it was suspected meanwhile, and when it is suspected later', async () => {
  const { guard, said, ended } = guarded(['same'])
  guard.suspect()
  guard.suspect()
  await ended
  expect(said).toEqual(['hold', 'release'])
})

it('does not believe a server that was left alone, however long it says what cannot be', async () => {
  const { guard, said, ended } = guarded(['alone', 'alone', 'same'], 0)
  guard.suspect()
  await ended
  expect(said).toEqual(['hold', 'release'])
})

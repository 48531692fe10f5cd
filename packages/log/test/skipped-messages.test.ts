import fc from 'fast-check'
import { expect, it } from 'vitest'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { FrameError } from '../src/errors.ts'
import { Applier } from '../src/jetstream/applier.ts'
import { createSkipReport } from '../src/order/skip-report.ts'
import type { LogPosition } from '../src/log.ts'
import { encodeFrame, getMessageCheck } from '../src/order/frame.ts'
import { FrameAssembler, type LogMessage, type SkipReason } from '../src/order/frame-assembler.ts'
import { createStartPosition } from '../src/order/sequencer.ts'
import { createLogCapture } from './support/open-log.ts'
import { createMessageOfFormat } from './support/text-frames.ts'
import { APPEND_KIND, TextStateMachine } from './support/text-state-machine.ts'

const WRITER = 'ab'.repeat(8)

/** Messages of a frame with one text, in parts of some bytes. */
const toParts = (number: number, text: string, limit = 64) =>
  encodeFrame({ writer: WRITER, number, entries: [{ kind: APPEND_KIND, term: 0, body: Buffer.from(text) }] }, limit)

const flipBit = (message: Buffer, at: number) => {
  const damaged = Buffer.from(message)
  damaged[at % damaged.length]! ^= 1
  return damaged
}

/** A frame of another writer that lacks its last part, its first part, or one in the middle. */
const tornFrame = fc
  .record({ missing: fc.integer({ min: 0, max: 2 }), text: fc.constant('t'.repeat(90)) })
  .map(({ missing, text }) => toParts(1, text).filter((_, part) => part !== missing))

/** Messages that are no part of a complete frame. */
const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => [Buffer.from(bytes)]),
  fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => [Buffer.from([0x4c, ...bytes])]),
  fc.tuple(fc.nat(), fc.nat()).map(([number, at]) => [flipBit(toParts(number + 1, 'damaged', 1_000)[0]!, at)]),
  tornFrame,
  fc.constant([Buffer.from('hello')]),
)

interface Node {
  readonly stateMachine: TextStateMachine
  readonly counts: Record<SkipReason, number>
  enqueue(messages: readonly LogMessage[]): Promise<void>
  /** Position of the applier, which it stores when it ends. */
  end(): Promise<LogPosition>
}

function startNode(stateMachine = new TextStateMachine()): Node {
  const counts = { foreign: 0, damaged: 0, torn: 0 }
  let last = 0
  let fatal: Error | undefined
  const applier = new Applier({
    stateMachine,
    start: stateMachine.getPosition() ?? createStartPosition('e'),
    isAwaited: () => true,
    onApplied() {},
    onIgnored() {},
    onSkip: (reason, _seq, count) => void (counts[reason] += count),
    onAdvance: (seq) => void (last = seq),
    onLease() {},
    onRetry() {},
    onFatal: (error) => void (fatal = error),
  })
  return {
    stateMachine,
    counts,
    async enqueue(messages) {
      applier.enqueue(messages)
      await waitUntil(() => fatal !== undefined || last === messages.at(-1)?.seq || messages.length === 0)
      if (fatal) throw fatal
    },
    async end() {
      await applier.end()
      return stateMachine.getPosition()!
    },
  }
}

it('skips any messages between frames in the same way on all nodes, wherever they restart', async () => {
  const pieces = fc.array(fc.oneof(garbage, fc.constant('frame' as const)), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(pieces, fc.array(fc.nat({ max: 30 }), { maxLength: 4 }), async (given, restarts) => {
      let number = 0
      const expected: string[] = []
      const all = given.flatMap((piece) => {
        if (piece !== 'frame') return piece
        const text = `${++number} `.repeat(number % 2 === 0 ? 1 : 60)
        expected.push(text)
        return toParts(number, text, 100)
      })
      // A last frame, so that every run ends with an applied message.
      const messages = [...all, ...toParts(++number, 'end')].map((data, i): LogMessage => ({ seq: i + 1, at: i, data }))
      const one = startNode()
      await one.enqueue(messages)
      const other = await applyWithRestarts(messages, restarts)
      expect(one.stateMachine.texts).toEqual([...expected, 'end'])
      expect(other.stateMachine.texts).toEqual(one.stateMachine.texts)
      const position = await one.end()
      expect(await other.end()).toEqual(position)
      expect(position.check).toBe(getMessageCheck(messages.at(-1)!.data))
      const skipped = one.counts.foreign + one.counts.damaged + one.counts.torn
      const parts = messages.length - skipped
      expect(parts).toBe(given.filter((piece) => piece === 'frame').reduce((sum, _, i) => sum + countParts(i + 1), 1))
    }),
    { numRuns: 150 },
  )
})

const countParts = (number: number) => toParts(number, `${number} `.repeat(number % 2 === 0 ? 1 : 60), 100).length

/** Applies the messages on a node that restarts after some of them, and then reads again from its position. */
async function applyWithRestarts(messages: readonly LogMessage[], restarts: readonly number[]): Promise<Node> {
  let node = startNode()
  let from = 0
  for (const length of restarts) {
    const batch = messages.slice(from, from + length)
    // Parts of an incomplete frame do not advance the position, so this node waits for no result.
    void node.enqueue(batch).catch(() => {})
    await new Promise((resolve) => setImmediate(resolve))
    const position = await node.end()
    node = startNode(node.stateMachine)
    from = position?.seq ?? 0
  }
  await node.enqueue(messages.slice(from))
  return node
}

it('counts the messages by the reason', () => {
  const skipped: [SkipReason, number, number][] = []
  const assembler = new FrameAssembler((...skip) => void skipped.push(skip))
  const [first, second, third] = toParts(1, 'x'.repeat(90))
  const damaged = flipBit(toParts(1, 'a')[0]!, 20)
  const given = [
    Buffer.from('hello'),
    first!,
    second!,
    Buffer.alloc(0),
    third!,
    damaged,
    first!,
    first!,
    second!,
    third!,
  ]
  const results = given.map((data, i) => assembler.addMessage({ seq: i + 1, at: 0, data }))
  expect(skipped).toEqual([
    ['foreign', 1, 1],
    ['torn', 3, 2],
    ['foreign', 4, 1],
    ['torn', 5, 1],
    ['damaged', 6, 1],
    ['torn', 7, 1],
  ])
  expect(results.at(-1)).toMatchObject({ writer: WRITER, number: 1, seq: given.length })
})

it('does not skip an intact message of a newer format', () => {
  const assembler = new FrameAssembler()
  const add = (data: Buffer) => assembler.addMessage({ seq: 1, at: 0, data })
  expect(() => add(createMessageOfFormat(2))).toThrow(FrameError)
  expect(add(flipBit(createMessageOfFormat(2), 20))).toMatchObject({ seq: 1 })
})

it('logs the first skipped message, then at most one line per minute', () => {
  const { lines, log } = createLogCapture()
  const counts: number[] = []
  const onSkip = createSkipReport({ service: 'test', stream: 's', log, onSkip: (_, count) => void counts.push(count) })
  for (let seq = 1; seq <= 1_000; seq++) onSkip('foreign', seq, 1)
  expect(lines).toEqual(['test: skipped message 1 of stream s: not a frame of this service'])
  expect(counts).toHaveLength(1_000)
})

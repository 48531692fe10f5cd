import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FrameError } from '../src/errors.ts'
import { Applier } from '../src/jetstream/applier.ts'
import type { LogPosition } from '../src/log.ts'
import { encodeFrame, LEASE_KIND } from '../src/order/frame.ts'
import type { LogMessage } from '../src/order/frame-assembler.ts'
import { createMessageOfFormat } from './support/text-frames.ts'
import { createStartPosition } from '../src/order/sequencer.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { APPEND_KIND, TextStateMachine } from './support/text-state-machine.ts'

function startApplier(stateMachine = new TextStateMachine(), isAwaited: (message: LogMessage) => boolean = () => true) {
  const advanced: number[] = []
  const fatal: number[] = []
  const applier = new Applier({
    stateMachine,
    start: createStartPosition('e'),
    isAwaited,
    onApplied() {},
    onIgnored() {},
    onAdvance: (seq) => void advanced.push(seq),
    onLease() {},
    onRetry() {},
    onFatal: (_, seq) => void fatal.push(seq),
  })
  onTestFinished(() => applier.end())
  return { applier, stateMachine, advanced, fatal }
}

/** Returns frames of one writer, one message each. A frame without a text is a barrier. */
const toMessages = (...texts: (string | undefined)[]): LogMessage[] =>
  texts.map((text, i) => {
    const entries = text === undefined ? [] : [{ kind: APPEND_KIND, term: 0, body: Buffer.from(text) }]
    return { seq: i + 1, at: 0, data: encodeFrame({ writer: '00'.repeat(8), number: i + 1, entries }, 10_000_000)[0]! }
  })

/** Intact message of a newer format. */
const newerFormat = createMessageOfFormat(2)

it('returns a promise while too many bytes are pending', async () => {
  const { applier, stateMachine } = startApplier()
  expect(applier.enqueue(toMessages('a', 'b'))).toBeUndefined()
  await waitUntil(() => stateMachine.texts.length === 2)
  const large = startApplier()
  const busy = large.applier.enqueue(toMessages(...Array.from({ length: 3 }, () => 'x'.repeat(6_000_000))))
  expect(busy).toBeInstanceOf(Promise)
  await busy
  expect(large.stateMachine.texts).toHaveLength(3)
  expect(large.applier.enqueue([])).toBeUndefined()
})

it('stores the position of barriers only at intervals and at the end', async () => {
  const { applier, stateMachine, advanced } = startApplier()
  applier.enqueue(toMessages('a', ...Array.from({ length: 100 }, () => undefined)))
  await waitUntil(() => advanced.at(-1) === 101)
  await applier.end()
  expect(stateMachine.savedPosition!.seq).toBe(101)
  const calls: LogPosition[] = []
  const other = startApplier()
  const { stateMachine: silent } = other
  silent.apply = async (entries, position) => (calls.push(position), entries.map(() => undefined))
  for (const message of toMessages(...Array.from({ length: 1_000 }, () => undefined))) {
    other.applier.enqueue([message])
    if (message.seq % 50 === 0) await waitUntil(() => other.advanced.at(-1) === message.seq)
  }
  expect(calls.map(({ seq }) => seq)).toEqual([300, 600, 900])
})

it('applies the entries before an unknown message, and none after it', async () => {
  const { applier, stateMachine, fatal } = startApplier()
  const [first, second] = toMessages('a', 'b')
  applier.enqueue([first!, { ...second!, data: newerFormat }])
  await waitUntil(() => fatal.length === 1)
  expect([fatal, stateMachine.texts]).toEqual([[2], ['a']])
  applier.enqueue(toMessages('a', 'b', 'c').slice(2))
  await applier.end()
  expect([stateMachine.texts, stateMachine.savedPosition!.seq]).toEqual([['a'], 1])
})

it('stores no position of entries that are not applied, however it ends', async () => {
  const full = startApplier()
  full.stateMachine.failureCount = 1
  full.applier.enqueue(toMessages('a'))
  await waitUntil(() => full.stateMachine.callCount === 1)
  await full.applier.end()
  expect([full.stateMachine.savedPosition, full.stateMachine.texts]).toEqual([undefined, []])
  const unknown = startApplier()
  const [first, second, third] = toMessages(undefined, 'b', 'c')
  unknown.applier.enqueue([first!])
  await waitUntil(() => unknown.advanced.length === 1)
  unknown.applier.enqueue([second!, { ...third!, data: newerFormat }])
  await waitUntil(() => unknown.fatal.length === 1)
  await unknown.applier.end()
  expect([unknown.stateMachine.savedPosition?.seq, unknown.stateMachine.texts]).toEqual([2, ['b']])
})

/** Returns a frame of the writer of `toMessages` with entries of these kinds. */
const toMessageOfKinds = (seq: number, ...kinds: number[]): LogMessage => {
  const entries = kinds.map((kind) => ({ kind, term: 0, body: Buffer.from('{') }))
  return { seq, at: 0, data: encodeFrame({ writer: '00'.repeat(8), number: seq, entries }, 10_000_000)[0]! }
}

it('applies the frames before one with an entry of an unknown kind, in the same batch', async () => {
  for (const seqOf of [(seq: number) => seq, () => undefined]) {
    const stateMachine = new TextStateMachine()
    const apply = stateMachine.apply.bind(stateMachine)
    stateMachine.apply = async (entries, position) => {
      const unknown = entries.find(({ kind }) => kind === 99)
      if (unknown) throw new FrameError('LOG_FORMAT_UNKNOWN', 'of another version', seqOf(unknown.seq))
      return apply(entries, position)
    }
    const { applier, fatal, advanced } = startApplier(stateMachine)
    const [first, second, , fourth] = toMessages('a', undefined, 'c', 'd')
    applier.enqueue([first!, second!, toMessageOfKinds(3, APPEND_KIND, 99), fourth!])
    await waitUntil(() => fatal.length === 1)
    await applier.end()
    expect([stateMachine.texts, stateMachine.savedPosition?.seq, advanced, fatal]).toEqual([['a'], 2, [2], [3]])
    expect(applier.identity.seq).toBe(2)
    expect(stateMachine.savedPosition!.writers).toEqual([['00'.repeat(8), 2, 0]])
  }
})

it('stores no position after a frame with a damaged request for the lease', async () => {
  const { applier, stateMachine, fatal } = startApplier()
  applier.enqueue([...toMessages('a'), toMessageOfKinds(2, LEASE_KIND), toMessageOfKinds(3, APPEND_KIND)])
  await waitUntil(() => fatal.length === 1)
  await applier.end()
  expect([stateMachine.texts, stateMachine.savedPosition?.seq, fatal]).toEqual([['a'], 1, [2]])
})

it('stops if the state machine does not know the kind of an entry', async () => {
  const stateMachine = new TextStateMachine()
  const { applier, fatal, advanced } = startApplier(stateMachine)
  let calls = 0
  stateMachine.apply = async () => {
    calls++
    throw new FrameError('LOG_FORMAT_UNKNOWN', 'of another version', 1)
  }
  applier.enqueue(toMessages('a', 'b'))
  await waitUntil(() => fatal.length === 1)
  applier.enqueue(toMessages('a', 'b', 'c'))
  await applier.end()
  expect([fatal, advanced, calls]).toEqual([[1], [], 1])
})

describe('messages without a waiting caller', () => {
  const MAX_APPLY_DELAY_MS = 8
  const never = () => false
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('are applied some ms later in one batch', async () => {
    const { applier, stateMachine, advanced } = startApplier(new TextStateMachine(), never)
    for (const message of toMessages('a', 'b', 'c')) {
      applier.enqueue([message])
      await turn()
    }
    expect(stateMachine.callCount).toBe(0)
    vi.advanceTimersByTime(MAX_APPLY_DELAY_MS)
    await turn()
    expect([advanced, stateMachine.callCount, stateMachine.texts]).toEqual([[3], 1, ['a', 'b', 'c']])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('are applied with an awaited message, or once a caller waits for them', async () => {
    const { applier, advanced } = startApplier(new TextStateMachine(), ({ seq }) => seq === 2)
    const [a, b, c] = toMessages('a', 'b', 'c')
    applier.enqueue([a!])
    applier.enqueue([b!])
    await turn()
    applier.enqueue([c!])
    await turn()
    expect(advanced).toEqual([2])
    applier.flush()
    await turn()
    expect([advanced, vi.getTimerCount()]).toEqual([[2, 3], 0])
  })

  it('are applied if they arrive while another batch is applied', async () => {
    const { applier, stateMachine, advanced } = startApplier(new TextStateMachine(), never)
    const [a, b] = toMessages('a', 'b')
    const { promise, resolve } = Promise.withResolvers<void>()
    const apply = stateMachine.apply.bind(stateMachine)
    stateMachine.apply = async (...batch) => (await promise, apply(...batch))
    applier.enqueue([a!])
    vi.advanceTimersByTime(MAX_APPLY_DELAY_MS)
    await turn()
    applier.enqueue([b!])
    resolve()
    await turn()
    expect(advanced).toEqual([1])
    vi.advanceTimersByTime(MAX_APPLY_DELAY_MS)
    await turn()
    expect(advanced).toEqual([1, 2])
  })

  it('are applied without a delay above the size limit', async () => {
    const { applier, advanced } = startApplier(new TextStateMachine(), never)
    applier.enqueue(toMessages('a', 'x'.repeat(300_000)))
    await turn()
    expect(advanced).toEqual([2])
  })
})

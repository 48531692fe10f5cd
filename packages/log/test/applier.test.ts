import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FrameError } from '../src/errors.ts'
import { Applier } from '../src/jetstream/applier.ts'
import type { Position } from '../src/log.ts'
import { encodeFrame } from '../src/order/frame.ts'
import type { Message } from '../src/order/joiner.ts'
import { beginning } from '../src/order/order.ts'
import { until } from '@influencer-stats/runtime/testing/until'
import { APPEND, TextView } from './support/text-view.ts'

function applying(view = new TextView(), isAwaited: (message: Message) => boolean = () => true) {
  const advanced: number[] = []
  const fatal: number[] = []
  const applier = new Applier({
    view,
    start: beginning('e'),
    isAwaited,
    onApplied() {},
    onRefused() {},
    onAdvance: (seq) => void advanced.push(seq),
    onLease() {},
    onTrouble() {},
    onFatal: (_, seq) => void fatal.push(seq),
  })
  onTestFinished(() => applier.end())
  return { applier, view, advanced, fatal }
}

/** Frames of one writer, a message each; without a text they are barriers. */
const messages = (...texts: (string | undefined)[]): Message[] =>
  texts.map((text, i) => {
    const entries = text === undefined ? [] : [{ kind: APPEND, term: 0, body: Buffer.from(text) }]
    return { seq: i + 1, at: 0, data: encodeFrame({ writer: '00'.repeat(8), number: i + 1, entries }, 10_000_000)[0]! }
  })

it('asks for no more while much waits', async () => {
  const { applier, view } = applying()
  expect(applier.take(messages('a', 'b'))).toBeUndefined()
  await until(() => view.texts.length === 2)
  const large = applying()
  const busy = large.applier.take(messages(...Array.from({ length: 3 }, () => 'x'.repeat(6_000_000))))
  expect(busy).toBeInstanceOf(Promise)
  await busy
  expect(large.view.texts).toHaveLength(3)
  expect(large.applier.take([])).toBeUndefined()
})

it('keeps how far barriers came only now and then, and at the end', async () => {
  const { applier, view, advanced } = applying()
  applier.take(messages('a', ...Array.from({ length: 100 }, () => undefined)))
  await until(() => advanced.at(-1) === 101)
  await applier.end()
  expect(view.kept!.seq).toBe(101)
  const calls: Position[] = []
  const other = applying()
  const { view: kept } = other
  kept.apply = async (entries, position) => (calls.push(position), entries.map(() => undefined))
  for (const message of messages(...Array.from({ length: 1_000 }, () => undefined))) {
    other.applier.take([message])
    if (message.seq % 50 === 0) await until(() => other.advanced.at(-1) === message.seq)
  }
  expect(calls.map(({ seq }) => seq)).toEqual([300, 600, 900])
})

it('applies nothing of a batch that has something in it that it does not know', async () => {
  const { applier, view, fatal } = applying()
  const [first, second] = messages('a', 'b')
  applier.take([first!, { ...second!, data: Buffer.from('what is this?') }])
  await until(() => fatal.length === 1)
  expect([fatal, view.texts]).toEqual([[2], []])
  applier.take(messages('a'))
  await applier.end()
  expect(view.texts).toEqual([])
})

it('keeps no position of what it has not applied, however it ends', async () => {
  const full = applying()
  full.view.failures = 1
  full.applier.take(messages('a'))
  await until(() => full.view.calls === 1)
  await full.applier.end()
  expect([full.view.kept, full.view.texts]).toEqual([undefined, []])
  const unknown = applying()
  const [first, second, third] = messages(undefined, 'b', 'c')
  unknown.applier.take([first!])
  await until(() => unknown.advanced.length === 1)
  unknown.applier.take([second!, { ...third!, data: Buffer.from('what is this?') }])
  await until(() => unknown.fatal.length === 1)
  await unknown.applier.end()
  expect([unknown.view.kept?.seq ?? 0, unknown.view.texts]).toEqual([expect.toSatisfy((seq) => seq < 2), []])
})

it('goes no further where the view does not know what an entry is', async () => {
  const view = new TextView()
  const { applier, fatal, advanced } = applying(view)
  let calls = 0
  view.apply = async () => {
    calls++
    throw new FrameError('LOG_FORMAT_UNKNOWN', 'of another version', 1)
  }
  applier.take(messages('a', 'b'))
  await until(() => fatal.length === 1)
  applier.take(messages('a', 'b', 'c'))
  await applier.end()
  expect([fatal, advanced, calls]).toEqual([[1], [], 1])
})

describe('what nobody waits for', () => {
  const MOST_LATE = 8
  const never = () => false
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is applied some ms later, all at once', async () => {
    const { applier, view, advanced } = applying(new TextView(), never)
    for (const message of messages('a', 'b', 'c')) {
      applier.take([message])
      await turn()
    }
    expect(view.calls).toBe(0)
    vi.advanceTimersByTime(MOST_LATE)
    await turn()
    expect([advanced, view.calls, view.texts]).toEqual([[3], 1, ['a', 'b', 'c']])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('comes along with what is awaited, or becomes that', async () => {
    const { applier, advanced } = applying(new TextView(), ({ seq }) => seq === 2)
    const [a, b, c] = messages('a', 'b', 'c')
    applier.take([a!])
    applier.take([b!])
    await turn()
    applier.take([c!])
    await turn()
    expect(advanced).toEqual([2])
    applier.flush()
    await turn()
    expect([advanced, vi.getTimerCount()]).toEqual([[2, 3], 0])
  })

  it('is not forgotten when it comes while other things are being applied', async () => {
    const { applier, view, advanced } = applying(new TextView(), never)
    const [a, b] = messages('a', 'b')
    const { promise, resolve } = Promise.withResolvers<void>()
    const apply = view.apply.bind(view)
    view.apply = async (...batch) => (await promise, apply(...batch))
    applier.take([a!])
    vi.advanceTimersByTime(MOST_LATE)
    await turn()
    applier.take([b!])
    resolve()
    await turn()
    expect(advanced).toEqual([1])
    vi.advanceTimersByTime(MOST_LATE)
    await turn()
    expect(advanced).toEqual([1, 2])
  })

  it('is applied at once where it is much', async () => {
    const { applier, advanced } = applying(new TextView(), never)
    applier.take(messages('a', 'x'.repeat(300_000)))
    await turn()
    expect(advanced).toEqual([2])
  })
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { collectReplies, createCallBacklog } from '../src/channel/call-backlog.ts'
import { createBus, createChannel } from '../src/channel/channel.ts'
import { Problem, defineErrors } from '../src/errors/problems.ts'

const errors = defineErrors({ TEAPOT: { status: 418, title: 'A teapot' } })

type TestHandlers = Record<string, (...args: any[]) => unknown>

function connectChannels(here: TestHandlers, there: TestHandlers) {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  return [
    createChannel(port1, new Map(Object.entries(here))),
    createChannel(port2, new Map(Object.entries(there))),
  ] as const
}

test('both ends can call each other', async () => {
  const [a, b] = connectChannels(
    { add: (x: number, y: number) => x + y },
    { later: async (text: string) => `${text}!` },
  )
  expect(await Promise.all([a.call('later', ['hi']), b.call('add', [1, 2]), b.call('add', [3, 4])])).toEqual([
    'hi!',
    3,
    7,
  ])
})

test('sends the messages of a turn together, or those so far on request', async () => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const channel = createChannel(port1, new Map())
  const receive = () =>
    (receiveMessageOnPort(port2)?.message as { name: string }[] | undefined)?.map(({ name }) => name)
  void channel.call('first', [])
  void channel.call('second', [])
  channel.flush()
  expect(receive()).toEqual(['first', 'second'])
  void channel.call('third', [])
  expect(receive()).toBeUndefined()
  await nextTurn()
  expect(receive()).toEqual(['third'])
})

test('a Problem arrives as the same Problem', async () => {
  const problem = errors.TEAPOT('short and stout', { headers: { 'retry-after': '1' }, cause: { secret: () => 1 } })
  const [a] = connectChannels({}, { fail: () => Promise.reject(problem) })
  const arrived = await a.call('fail', []).catch((error: Problem) => error)
  expect(arrived).toBeInstanceOf(Problem)
  expect(arrived).toMatchObject({
    code: 'TEAPOT',
    status: 418,
    detail: 'short and stout',
    headers: { 'retry-after': '1' },
  })
  expect((arrived as Problem).toBody()).toBe(problem.toBody())
})

test('other faults arrive as errors with their stack', async () => {
  const uncloneable = new Error('odd', { cause: { secret: () => 1 } })
  const [a] = connectChannels(
    {},
    {
      fail: () => {
        throw new TypeError('no good')
      },
      failOddly: () => Promise.reject(uncloneable),
      failWithText: () => Promise.reject('just text'),
      giveFunction: () => () => 1,
    },
  )
  await expect(a.call('fail', [])).rejects.toMatchObject({
    message: 'no good',
    stack: expect.stringContaining(import.meta.filename),
  })
  await expect(a.call('failOddly', [])).rejects.toThrow('odd')
  await expect(a.call('failWithText', [])).rejects.toThrow('just text')
  await expect(a.call('giveFunction', [])).rejects.toThrow(/could not be cloned/)
  await expect(a.call('nobody', [])).rejects.toThrow('no handler for "nobody"')
})

test('arguments that cannot be cloned fail at the caller only', async () => {
  const [a] = connectChannels({}, { echo: (value: unknown) => value })
  await expect(a.call('echo', [() => 1])).rejects.toThrow(/could not be cloned/)
  expect(await a.call('echo', [1])).toBe(1)
})

test('rejectAll rejects pending and later calls', async () => {
  const [a] = connectChannels({}, { never: () => new Promise(() => {}) })
  const waiting = a.call('never', [])
  a.rejectAll(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  await expect(a.call('never', [])).rejects.toThrow('gone')
})

describe('calls of one turn of the event loop', () => {
  test('form one message, in order, except those that cannot be cloned', async () => {
    const { port1, port2 } = new MessageChannel()
    onTestFinished(() => port1.close())
    const posts: number[] = []
    const counted = {
      on: port1.on.bind(port1),
      postMessage(messages: readonly unknown[]) {
        port1.postMessage(messages)
        posts.push(messages.length)
      },
    }
    const seen: unknown[] = []
    createChannel(port2, new Map([['see', (what: unknown) => seen.push(what)]]))
    const channel = createChannel(counted, new Map())
    await Promise.all([1, 2, 3].map((what) => channel.call('see', [what])))
    expect(posts).toEqual([3])
    const calls = [4, () => {}, 5].map((what) => channel.call('see', [what]))
    const results = await Promise.allSettled(calls)
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(seen).toEqual([1, 2, 3, 4, 5])
  })

  test('are processed in parts, so that other work can run', async () => {
    const { port1, port2 } = new MessageChannel()
    onTestFinished(() => port1.close())
    let turn = 0
    let counting = setImmediate(function count() {
      turn++
      counting = setImmediate(count)
    })
    onTestFinished(() => clearImmediate(counting))
    const at: number[] = []
    createChannel(port2, new Map([['see', () => at.push(turn)]]))
    const channel = createChannel(port1, new Map())
    await Promise.all(Array.from({ length: 100 }, () => channel.call('see', [])))
    const max = Math.max(
      ...Map.groupBy(at, (one) => one)
        .values()
        .map(({ length }) => length),
    )
    expect(max).toBeLessThanOrEqual(16)
  })
})

describe('a call without a reply in time', () => {
  test('fails with a code, is named in the log only, and its late reply is dropped', async () => {
    const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const
    const [a] = connectChannels({}, { later: (index: 0 | 1) => gates[index].promise, echo: (value: unknown) => value })
    for (const index of [0, 1]) {
      const error = (await a.call('later', [index], 10).catch((fault: unknown) => fault)) as Problem
      expect(error).toMatchObject({ code: 'INTERNAL_TIMEOUT', status: 503, detail: undefined })
      expect(error.cause).toMatchObject({ message: expect.stringContaining('"later"') })
    }
    gates[0].resolve('late')
    gates[1].reject(new Error('late'))
    // This reply comes after the late ones.
    expect(await a.call('echo', [1])).toBe(1)
  })

  test('delays no other call, and each call has a separate deadline', async () => {
    const { port1, port2 } = new MessageChannel()
    onTestFinished(() => port1.close())
    const index = Promise.withResolvers<string>()
    createChannel(port1, new Map([['wait', () => index.promise]]))
    const bus = createBus(port2)
    const call = bus.call('wait')
    await expect(bus.withTimeout(10).call('wait')).rejects.toMatchObject({ code: 'INTERNAL_TIMEOUT' })
    index.resolve('in time')
    expect(await call).toBe('in time')
  })

  test('does not include a call whose reply arrived while its caller was busy', async () => {
    const { port1, port2 } = new MessageChannel()
    onTestFinished(() => port1.close())
    const waiting = createChannel(port1, new Map()).call('ask', [], 10)
    await nextTurn()
    const [{ id }] = receiveMessageOnPort(port2)!.message
    // The reply comes after 100 others, so it is processed late.
    const others = Array.from({ length: 100 }, (_, i) => ({ kind: 'reply', id: -i, value: 'nobody waits' }))
    port2.postMessage([...others, { kind: 'reply', id, value: 'in time' }])
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    expect(await waiting).toBe('in time')
  })
})

test('a call without a reply runs before a later reply arrives, and its error is reported', async () => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const seen: string[] = []
  const bus = createBus(port2)
  bus.on('update', async (value: string) => {
    if (value === 'broken') throw new Error(value)
    seen.push(value)
  })
  const faults: unknown[] = []
  const isReported = Promise.withResolvers<void>()
  const main = createChannel(
    port1,
    new Map([
      [
        'change',
        async (value: string) => {
          main.notify('update', [value])
          return 'changed'
        },
      ],
    ]),
    (fault) => {
      faults.push(fault)
      isReported.resolve()
    },
  )
  expect(await bus.call('change', 'a')).toBe('changed')
  expect(seen).toEqual(['a'])
  await bus.call('change', 'broken')
  await isReported.promise
  expect(faults).toMatchObject([{ message: 'broken' }])
})

test('a backlog holds calls with their arguments and order until its release', async () => {
  const calls: unknown[] = []
  const backlog = createCallBacklog({
    call: async (...call) => calls.push(call),
    notify: (...call) => void calls.push(call),
  })
  const list = [1]
  expect(backlog.call('a', [list], 10)).toBeUndefined()
  list.push(2)
  backlog.call('b', [])
  expect(calls).toEqual([])
  const released = backlog.release()
  const later = backlog.call('c', [list])
  expect(await Promise.all(released)).toEqual([1, 2])
  expect(await later).toBe(3)
  expect(calls).toEqual([
    ['a', [[1]], 10],
    ['b', []],
    ['c', [[1, 2]]],
  ])
  backlog.notify('d', [])
  expect(calls.at(-1)).toEqual(['d', []])
})

test('a broadcast returns the replies that arrive, and logs the failures', async () => {
  const logged: unknown[] = []
  const fault = new Error('no')
  const calls = [Promise.resolve(1), undefined, Promise.reject(fault), Promise.resolve(undefined)]
  const log = { warn: (fields: unknown) => logged.push(fields) }
  expect(await collectReplies(calls, log as never, 'ask')).toEqual([1, undefined])
  expect(logged).toEqual([{ err: fault, call: 'ask' }])
})

import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { createBacklog } from '../src/process/backlog.ts'
import { createChannel } from '../src/process/channel.ts'
import { Problem, defineErrors } from '../src/http/problems.ts'

const errors = defineErrors({ TEAPOT: { status: 418, title: 'A teapot' } })

type Handlers = Record<string, (...args: any[]) => unknown>

function line(here: Handlers, there: Handlers) {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  return [
    createChannel(port1, new Map(Object.entries(here))),
    createChannel(port2, new Map(Object.entries(there))),
  ] as const
}

test('either end may ask the other', async () => {
  const [a, b] = line({ add: (x: number, y: number) => x + y }, { later: async (text: string) => `${text}!` })
  expect(await Promise.all([a.call('later', 'hi'), b.call('add', 1, 2), b.call('add', 3, 4)])).toEqual(['hi!', 3, 7])
})

test('a Problem arrives as the same Problem', async () => {
  const problem = errors.TEAPOT('short and stout', { headers: { 'retry-after': '1' }, cause: { secret: () => 1 } })
  const [a] = line({}, { fail: () => Promise.reject(problem) })
  const arrived = await a.call('fail').catch((error: Problem) => error)
  expect(arrived).toBeInstanceOf(Problem)
  expect(arrived).toMatchObject({
    code: 'TEAPOT',
    status: 418,
    detail: 'short and stout',
    headers: { 'retry-after': '1' },
  })
  expect((arrived as Problem).body()).toBe(problem.body())
})

test('other faults arrive as errors with their stack', async () => {
  const uncloneable = new Error('odd', { cause: { secret: () => 1 } })
  const [a] = line(
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
  await expect(a.call('fail')).rejects.toMatchObject({
    message: 'no good',
    stack: expect.stringContaining(import.meta.filename),
  })
  await expect(a.call('failOddly')).rejects.toThrow('odd')
  await expect(a.call('failWithText')).rejects.toThrow('just text')
  await expect(a.call('giveFunction')).rejects.toThrow(/could not be cloned/)
  await expect(a.call('nobody')).rejects.toThrow('no handler for "nobody"')
})

test('what cannot be sent fails at the caller alone', async () => {
  const [a] = line({}, { echo: (value: unknown) => value })
  await expect(a.call('echo', () => 1)).rejects.toThrow(/could not be cloned/)
  expect(await a.call('echo', 1)).toBe(1)
})

test('abandon fails what waits and what comes later', async () => {
  const [a] = line({}, { never: () => new Promise(() => {}) })
  const waiting = a.call('never')
  a.abandon(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  await expect(a.call('never')).rejects.toThrow('gone')
})

test('a backlog keeps calls, as they were, until it is released, and their order', async () => {
  const calls: unknown[] = []
  const backlog = createBacklog((name, ...args) => {
    calls.push([name, ...args])
    if (name === 'fail') throw new Error('no')
    return name
  })
  const list = [1]
  expect(await backlog.call('a', [list])).toBeUndefined()
  list.push(2)
  await backlog.call('fail', [])
  expect(calls).toEqual([])
  const released = backlog.release()
  const later = backlog.call('b', [list])
  expect((await released).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(await later).toBe('b')
  expect(calls).toEqual([['a', [1]], ['fail'], ['b', [1, 2]]])
})

import { beforeEach, expect, it } from 'vitest'
import { clock, Ledger, type Contents } from '../src/ledger.ts'

const A = { keys: ['a'] }
const B = { keys: ['b', 'c'] }
const now = async () => {
  const at = clock()
  // The next write is sent later than this one was acknowledged.
  while (clock() <= at);
  return at
}

let ledger: Ledger
const done = async () => {}
const never = () => Promise.reject(new Error('killed'))
const put = (value: number, durable: boolean, write = done) => ledger.write(A, new Map([['a', value]]), durable, write)
const found = (a?: number, b?: number, c = b): Contents =>
  new Map([['a', a] as const, ['b', b] as const, ['c', c] as const].filter(([, value]) => value !== undefined))

beforeEach(() => {
  ledger = new Ledger([A, B], new Map())
})

it('lets nothing be lost that was durable, whatever came after', async () => {
  await put(1, true)
  await put(2, false)
  const at = await now()
  expect(ledger.judge(found(1), at)).toEqual([])
  expect(ledger.judge(found(2), at)).toEqual([])
  expect(ledger.judge(found(), at)).toHaveLength(1)
  expect(ledger.judge(found(1), at, { plainToo: true })).toHaveLength(1)
})

it('takes what was on its way as there or not', async () => {
  await put(1, true)
  await put(2, true, never).catch(() => {})
  const at = await now()
  expect(ledger.judge(found(1), at)).toEqual([])
  expect(ledger.judge(found(2), at)).toEqual([])
  expect(ledger.judge(found(3), at)).toHaveLength(1)
})

it('asks for nothing that came after the crash', async () => {
  await put(1, true)
  const at = await now()
  await put(2, true)
  expect(ledger.judge(found(1), at)).toEqual([])
  expect(ledger.judge(found(2), at)).toHaveLength(1)
})

it('sees half of a write', async () => {
  await ledger.write(
    B,
    new Map([
      ['b', 1],
      ['c', 1],
    ]),
    false,
    done,
  )
  const at = await now()
  expect(ledger.judge(found(), at)).toEqual([])
  expect(ledger.judge(found(undefined, 1), at)).toEqual([])
  expect(ledger.judge(new Map([['b', 1]]), at)).toEqual([expect.stringContaining('half written')])
})

it('sees that an older write was lost and a newer one was not', async () => {
  await put(1, false)
  await now()
  await ledger.write(
    B,
    new Map([
      ['b', 2],
      ['c', 2],
    ]),
    false,
    done,
  )
  const at = await now()
  expect(ledger.judge(found(undefined, 2), at)).toEqual([])
  expect(ledger.judge(found(undefined, 2), at, { inOrder: true })).toHaveLength(1)
  expect(ledger.judge(found(1), at, { inOrder: true })).toEqual([])
  expect(ledger.judge(found(), at, { inOrder: true })).toEqual([])
})

it('what was acknowledged before a durable write was sent is as durable as that', async () => {
  const [first, second] = [{ keys: ['a'] }, { keys: ['b'] }]
  const ledger = new Ledger([first, second], new Map())
  await ledger.write(first, new Map([['a', 1]]), false, async () => {})
  const before = await now()
  await ledger.write(second, new Map([['b', 2]]), true, async () => {})
  await ledger.write(first, new Map([['a', 3]]), false, async () => {})
  const at = await now()
  const carried = { carried: true }
  expect(ledger.judge(new Map([['b', 2]]), at)).toEqual([])
  expect(ledger.judge(new Map([['b', 2]]), at, carried)).toHaveLength(1)
  expect(ledger.judge(new Map(Object.entries({ a: 1, b: 2 })), at, carried)).toEqual([])
  expect(ledger.judge(new Map(), before, carried)).toEqual([])
})

import { beforeEach, expect, it } from 'vitest'
import { getSeconds, WriteLedger, type Contents } from '../src/write-ledger.ts'

const A = { keys: ['a'] }
const B = { keys: ['b', 'c'] }
const now = async () => {
  const at = getSeconds()
  // The next write starts after the acknowledgement of this one.
  while (getSeconds() <= at);
  return at
}

let ledger: WriteLedger
const done = async () => {}
const never = () => Promise.reject(new Error('killed'))
const put = (value: number, durable: boolean, write = done) => ledger.write(A, new Map([['a', value]]), durable, write)
const found = (a?: number, b?: number, c = b): Contents =>
  new Map([['a', a] as const, ['b', b] as const, ['c', c] as const].filter(([, value]) => value !== undefined))

beforeEach(() => {
  ledger = new WriteLedger([A, B], new Map())
})

it('reports every lost durable write, regardless of later writes', async () => {
  await put(1, true)
  await put(2, false)
  const at = await now()
  expect(ledger.check(found(1), at)).toEqual([])
  expect(ledger.check(found(2), at)).toEqual([])
  expect(ledger.check(found(), at)).toHaveLength(1)
  expect(ledger.check(found(1), at, { requireAll: true })).toHaveLength(1)
})

it('accepts a write in flight as present or absent', async () => {
  await put(1, true)
  await put(2, true, never).catch(() => {})
  const at = await now()
  expect(ledger.check(found(1), at)).toEqual([])
  expect(ledger.check(found(2), at)).toEqual([])
  expect(ledger.check(found(3), at)).toHaveLength(1)
})

it('requires no write that was sent after the crash', async () => {
  await put(1, true)
  const at = await now()
  await put(2, true)
  expect(ledger.check(found(1), at)).toEqual([])
  expect(ledger.check(found(2), at)).toHaveLength(1)
})

it('detects a partial write', async () => {
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
  expect(ledger.check(found(), at)).toEqual([])
  expect(ledger.check(found(undefined, 1), at)).toEqual([])
  expect(ledger.check(new Map([['b', 1]]), at)).toEqual([expect.stringContaining('incomplete')])
})

it('detects that an older write was lost and a newer one survived', async () => {
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
  expect(ledger.check(found(undefined, 2), at)).toEqual([])
  expect(ledger.check(found(undefined, 2), at, { losesOnlyNewest: true })).toHaveLength(1)
  expect(ledger.check(found(1), at, { losesOnlyNewest: true })).toEqual([])
  expect(ledger.check(found(), at, { losesOnlyNewest: true })).toEqual([])
})

it('writes acknowledged before a durable write was sent are equally durable', async () => {
  const [first, second] = [{ keys: ['a'] }, { keys: ['b'] }]
  const ledger = new WriteLedger([first, second], new Map())
  await ledger.write(first, new Map([['a', 1]]), false, async () => {})
  const before = await now()
  await ledger.write(second, new Map([['b', 2]]), true, async () => {})
  await ledger.write(first, new Map([['a', 3]]), false, async () => {})
  const at = await now()
  const coversEarlier = { coversEarlier: true }
  expect(ledger.check(new Map([['b', 2]]), at)).toEqual([])
  expect(ledger.check(new Map([['b', 2]]), at, coversEarlier)).toHaveLength(1)
  expect(ledger.check(new Map(Object.entries({ a: 1, b: 2 })), at, coversEarlier)).toEqual([])
  expect(ledger.check(new Map(), before, coversEarlier)).toEqual([])
})

import type { HotRequest } from '@influencer-stats/runtime/hot-route'
import { toWire } from '@influencer-stats/runtime/problems'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { errors } from '../src/errors.ts'
import type { Put } from '../src/messages.ts'
import { groupPuts } from '../src/put-groups.ts'
import { putRoute } from '../src/routes/put-price.ts'
import { priceOf } from './support/prices.ts'

/** A main that answers when it is told to. */
function fakeMain() {
  const groups: (readonly Put[])[] = []
  const gates: PromiseWithResolvers<void>[] = []
  async function call(_name: string, puts: readonly Put[]) {
    groups.push(puts)
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    await gate.promise
    return puts.map(({ body }) => (body === 'conflict' ? toWire(errors.TYPE_CONFLICT('size')) : body === 'new'))
  }
  return { groups, gates, put: groupPuts({ call } as never) }
}

const puts = (from: number, count: number, body = 'new') =>
  Array.from({ length: count }, (_, i) => ({ key: String(from + i), body }))

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn()
}

it('puts that come together go to main together, and those that come meanwhile behind them', async () => {
  const { groups, gates, put } = fakeMain()
  const first = [...puts(0, 20), { key: 'old', body: 'old' }].map(put)
  await turns(3)
  const second = [...puts(50, 5), { key: 'bad', body: 'conflict' }, ...puts(60, 5)].map(put)
  await turns(3)
  expect(groups.map(({ length }) => length)).toEqual([21])
  gates[0]!.resolve()
  expect(await Promise.all(first)).toEqual([...Array.from({ length: 20 }, () => true), false])
  await turns(5)
  expect(groups.map(({ length }) => length)).toEqual([21, 11])
  gates[1]!.resolve()
  const outcomes = await Promise.allSettled(second)
  expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code))).toEqual(
    Array.from({ length: 11 }, (_, i) => (i === 5 ? 'TYPE_CONFLICT' : true)),
  )
})

it('a few of them are answered in a turn', async () => {
  const { gates, put } = fakeMain()
  let answered = 0
  const all = puts(0, 64).map((one) => put(one).then(() => answered++))
  await turns(3)
  gates[0]!.resolve()
  let most = 0
  for (let before = 0; answered < 64; before = answered) {
    await nextTurn()
    most = Math.max(most, answered - before)
  }
  expect(most).toBeLessThanOrEqual(16)
  await Promise.all(all)
})

it('a few of those that come at once are read in a turn', async () => {
  const read: string[] = []
  const route = putRoute(async ({ key }) => read.push(key) > 0, undefined, 1_000_000)
  const all = Array.from({ length: 64 }, (_, i) => {
    const { id, ...price } = priceOf()
    return route.answer(id, { body: Buffer.from(i % 10 === 9 ? 'nonsense' : JSON.stringify(price)) } as HotRequest)
  })
  const settled = Promise.allSettled(all)
  let most = read.length
  for (let before = most; read.length < 58; before = read.length) {
    await nextTurn()
    most = Math.max(most, read.length - before)
  }
  expect(most).toBeLessThanOrEqual(16)
  const outcomes = (await settled).map((one) => (one.status === 'rejected' ? one.reason.code : 'kept'))
  expect(outcomes).toEqual(Array.from({ length: 64 }, (_, i) => (i % 10 === 9 ? 'BAD_JSON' : 'kept')))
  // In their order.
  expect(read).toEqual(read.toSorted())
})

it('what main does not answer fails all that it was asked', async () => {
  const call = async () => {
    throw errors.IMPORT_LOST()
  }
  const put = groupPuts({ call } as never)
  const outcomes = await Promise.allSettled(puts(0, 20).map(put))
  expect(outcomes.map((one) => one.status === 'rejected' && one.reason.code)).toEqual(
    Array.from({ length: 20 }, () => 'IMPORT_LOST'),
  )
})

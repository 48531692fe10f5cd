import type { HotRequest } from '@influencer-stats/runtime/hot-route'
import { toWireError } from '@influencer-stats/runtime/problems'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { errors } from '../src/errors.ts'
import type { PricePut } from '../src/messages.ts'
import { batchPuts } from '../src/routes/put/batch-puts.ts'
import { createPutRoute } from '../src/routes/put/put-price.ts'
import { createPrice } from './support/prices.ts'

/** A fake main thread that answers when the test resolves a reply. */
function fakeMain() {
  const groups: (readonly PricePut[])[] = []
  const replies: PromiseWithResolvers<void>[] = []
  async function call(_name: string, createPuts: readonly PricePut[]) {
    groups.push(createPuts)
    const reply = Promise.withResolvers<void>()
    replies.push(reply)
    await reply.promise
    return createPuts.map(({ body }) =>
      body === 'conflict' ? toWireError(errors.TYPE_CONFLICT('size')) : body === 'new',
    )
  }
  return { groups, gates: replies, put: batchPuts({ call } as never) }
}

const createPuts = (from: number, count: number, body = 'new') =>
  Array.from({ length: count }, (_, i) => ({ key: String(from + i), body }))

async function waitTurns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn()
}

it('concurrent puts go to main in one message, and later puts in the next one', async () => {
  const { groups, gates: replies, put } = fakeMain()
  const first = [...createPuts(0, 20), { key: 'old', body: 'old' }].map(put)
  await waitTurns(3)
  const second = [...createPuts(50, 5), { key: 'bad', body: 'conflict' }, ...createPuts(60, 5)].map(put)
  await waitTurns(3)
  expect(groups.map(({ length }) => length)).toEqual([21])
  replies[0]!.resolve()
  expect(await Promise.all(first)).toEqual([...Array.from({ length: 20 }, () => true), false])
  await waitTurns(5)
  expect(groups.map(({ length }) => length)).toEqual([21, 11])
  replies[1]!.resolve()
  const outcomes = await Promise.allSettled(second)
  expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code))).toEqual(
    Array.from({ length: 11 }, (_, i) => (i === 5 ? 'TYPE_CONFLICT' : true)),
  )
})

it('answers a limited number of puts per turn', async () => {
  const { gates: replies, put } = fakeMain()
  let answered = 0
  const all = createPuts(0, 64).map((one) => put(one).then(() => answered++))
  await waitTurns(3)
  replies[0]!.resolve()
  let maxPerTurn = 0
  for (let before = 0; answered < 64; before = answered) {
    await nextTurn()
    maxPerTurn = Math.max(maxPerTurn, answered - before)
  }
  expect(maxPerTurn).toBeLessThanOrEqual(16)
  await Promise.all(all)
})

it('reads a limited number of concurrent puts per turn', async () => {
  const read: string[] = []
  const route = createPutRoute(async ({ key }) => read.push(key) > 0, undefined, 1_000_000)
  const all = Array.from({ length: 64 }, (_, i) => {
    const { id, ...price } = createPrice()
    return route.answer(id, { body: Buffer.from(i % 10 === 9 ? 'nonsense' : JSON.stringify(price)) } as HotRequest)
  })
  const settled = Promise.allSettled(all)
  let maxPerTurn = read.length
  for (let before = maxPerTurn; read.length < 58; before = read.length) {
    await nextTurn()
    maxPerTurn = Math.max(maxPerTurn, read.length - before)
  }
  expect(maxPerTurn).toBeLessThanOrEqual(16)
  const outcomes = (await settled).map((one) => (one.status === 'rejected' ? one.reason.code : 'kept'))
  expect(outcomes).toEqual(Array.from({ length: 64 }, (_, i) => (i % 10 === 9 ? 'BAD_JSON' : 'kept')))
  // In their order.
  expect(read).toEqual(read.toSorted())
})

it('a failed message to main rejects all its puts', async () => {
  const call = async () => {
    throw errors.IMPORT_LOST()
  }
  const put = batchPuts({ call } as never)
  const outcomes = await Promise.allSettled(createPuts(0, 20).map(put))
  expect(outcomes.map((one) => one.status === 'rejected' && one.reason.code)).toEqual(
    Array.from({ length: 20 }, () => 'IMPORT_LOST'),
  )
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Batcher } from '../../src/async/batcher.ts'

test('flushes the items of one turn together', async () => {
  const batches: number[][] = []
  const batcher = new Batcher<number>((items) => void batches.push(items))
  batcher.add(1)
  batcher.add(2)
  expect(batches).toEqual([])
  await batcher.waitUntilIdle()
  batcher.add(3)
  await nextTurn()
  expect(batches).toEqual([[1, 2], [3]])
})

test('collects the next batch while a flush is in progress', async () => {
  const batches: number[][] = []
  const flushed = Promise.withResolvers<void>()
  const batcher = new Batcher<number>((items) => {
    batches.push(items)
    return batches.length === 1 ? flushed.promise : undefined
  })
  batcher.add(1)
  await nextTurn()
  batcher.add(2)
  await nextTurn()
  batcher.add(3)
  expect(batches).toEqual([[1]])
  flushed.resolve()
  await batcher.waitUntilIdle()
  expect(batches).toEqual([[1], [2, 3]])
})

test('flushes items that a flush adds in the next turn', async () => {
  const batches: number[][] = []
  const batcher: Batcher<number> = new Batcher((items) => {
    if (batches.push(items) === 1) batcher.add(2)
  })
  batcher.add(1)
  await nextTurn()
  expect(batches).toEqual([[1]])
  await batcher.waitUntilIdle()
  expect(batches).toEqual([[1], [2]])
})

test('flushes at once on request, but not during a flush', async () => {
  const batches: number[][] = []
  const flushed = Promise.withResolvers<void>()
  const batcher = new Batcher<number>((items) => {
    batches.push(items)
    return batches.length === 2 ? flushed.promise : undefined
  })
  batcher.add(1)
  batcher.flushNow()
  batcher.add(2)
  batcher.flushNow()
  expect(batches).toEqual([[1], [2]])
  batcher.add(3)
  batcher.flushNow()
  await nextTurn()
  expect(batches).toEqual([[1], [2]])
  flushed.resolve()
  await batcher.waitUntilIdle()
  expect(batches).toEqual([[1], [2], [3]])
})

test('passes the error of a flush to its waiting caller, and flushes later items', async () => {
  const batches: number[][] = []
  const error = new Error('refused')
  const batcher = new Batcher<number>(async (items) => {
    if (batches.push(items) === 1) throw error
  })
  batcher.add(1)
  batcher.flushNow()
  batcher.add(2)
  await expect(batcher.waitUntilIdle()).rejects.toBe(error)
  await batcher.waitUntilIdle()
  expect(batches).toEqual([[1], [2]])
})

import * as fc from 'fast-check'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { BodyBuffer } from '../src/memory/body-buffer.ts'
import {
  createBudgetMemory,
  createBudget,
  sumHeldBytes,
  MemoryHold,
  getHold,
  releaseHold,
} from '../src/memory/budget.ts'

const KIB = 1_024
const LIMIT_BYTES = 1_024 * KIB

describe('a budget', () => {
  test('covers all threads, and frees the memory of a dead thread', () => {
    const memory = createBudgetMemory(2)
    const [one, other] = [createBudget(memory, 0, LIMIT_BYTES), createBudget(memory, 1, LIMIT_BYTES)]
    expect([one.take(LIMIT_BYTES - KIB), other.take(2 * KIB), other.take(KIB), other.take(1)]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(sumHeldBytes(memory)).toBe(LIMIT_BYTES)
    memory[0] = 0
    expect([other.take(LIMIT_BYTES - KIB), other.take(1)]).toEqual([true, false])
    other.release(LIMIT_BYTES - KIB)
    expect(sumHeldBytes(memory)).toBe(KIB)
  })

  test('frees the memory of a request once, after its reply or the close of its connection', async () => {
    const memory = createBudgetMemory(1)
    const budget = createBudget(memory, 0, LIMIT_BYTES)
    const messages = Array.from({ length: 3 }, () => ({ socket: new PassThrough() }))
    for (const message of messages)
      for (const bytes of [1, KIB, 5_000]) expect(getHold(message, budget).take(bytes)).toBe(true)
    const one = sumHeldBytes(memory) / 3
    expect(one).toBe(7 * KIB)
    for (let i = 0; i < 2; i++) releaseHold(messages[0]!)
    expect(sumHeldBytes(memory)).toBe(2 * one)
    messages[0]!.socket.destroy()
    messages[1]!.socket.destroy()
    await new Promise((resolve) => messages[1]!.socket.once('close', resolve))
    expect(sumHeldBytes(memory)).toBe(one)
    expect(getHold(messages[1]!, budget).take(1)).toBe(false)
    expect(sumHeldBytes(memory)).toBe(one)
  })

  test('limits a connection to a share, and a single request to the whole budget', () => {
    const budget = createBudget(createBudgetMemory(1), 0, LIMIT_BYTES)
    const socket = new PassThrough()
    const [first, second, third] = [{ socket }, { socket }, { socket }].map((message) => getHold(message, budget))
    expect(first!.take(LIMIT_BYTES / 8)).toBe(true)
    expect(second!.take(KIB)).toBe(true)
    expect(third!.take(1)).toBe(false)
    expect(new MemoryHold(budget, new PassThrough()).take(LIMIT_BYTES / 2)).toBe(true)
    first!.release()
    expect(third!.take(1)).toBe(true)
  })
})

test('a body equals its pieces and holds at most three times its length', () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(pieces, fc.boolean(), (parts, isKnown) => {
      const memory = createBudgetMemory(1)
      const whole = Buffer.concat(parts)
      const message = { socket: new PassThrough() }
      const budget = createBudget(memory, 0, 16 * LIMIT_BYTES)
      const body = new BodyBuffer(() => getHold(message, budget), isKnown ? whole.length : undefined)
      for (const part of parts) {
        // A separate buffer, as from a socket: a buffer from a pool would count the whole pool.
        expect(body.add(Buffer.from(part.slice().buffer))).toBe(true)
        expect(sumHeldBytes(memory)).toBeLessThanOrEqual(3 * body.length + 18 * KIB)
      }
      expect(body.bytes!.equals(whole)).toBe(true)
      if (parts.length > 1) expect(sumHeldBytes(memory)).toBeGreaterThanOrEqual(whole.length)
      releaseHold(message)
      expect(sumHeldBytes(memory)).toBe(0)
    }),
  )
})

test('a body that exceeds the budget is not stored', () => {
  const memory = createBudgetMemory(1)
  const message = { socket: new PassThrough() }
  const body = new BodyBuffer(() => getHold(message, createBudget(memory, 0, 64 * KIB)))
  let added = 0
  while (body.add(Buffer.allocUnsafeSlow(KIB))) added++
  expect(added).toBeGreaterThan(20)
  expect(added).toBeLessThan(64)
  expect([body.length, body.bytes]).toEqual([0, undefined])
})

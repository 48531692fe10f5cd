import * as fc from 'fast-check'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { BodyBuffer } from '../src/memory/body-buffer.ts'
import { budgetMemory, createBudget, heldBytes, Hold, holdOf, releaseHold } from '../src/memory/budget.ts'

const KIB = 1_024
const LIMIT = 1_024 * KIB

describe('a budget', () => {
  test('is one for all threads, and what a dead one held is forgotten', () => {
    const memory = budgetMemory(2)
    const [one, other] = [createBudget(memory, 0, LIMIT), createBudget(memory, 1, LIMIT)]
    expect([one.take(LIMIT - KIB), other.take(2 * KIB), other.take(KIB), other.take(1)]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(heldBytes(memory)).toBe(LIMIT)
    memory[0] = 0
    expect([other.take(LIMIT - KIB), other.take(1)]).toEqual([true, false])
    other.give(LIMIT - KIB)
    expect(heldBytes(memory)).toBe(KIB)
  })

  test('has all back when the reply is sent or the connection is gone, however often it is told', async () => {
    const memory = budgetMemory(1)
    const budget = createBudget(memory, 0, LIMIT)
    const messages = Array.from({ length: 3 }, () => ({ socket: new PassThrough() }))
    for (const message of messages)
      for (const bytes of [1, KIB, 5_000]) expect(holdOf(message, budget).take(bytes)).toBe(true)
    const one = heldBytes(memory) / 3
    expect(one).toBe(7 * KIB)
    for (let i = 0; i < 2; i++) releaseHold(messages[0]!)
    expect(heldBytes(memory)).toBe(2 * one)
    messages[0]!.socket.destroy()
    messages[1]!.socket.destroy()
    await new Promise((resolve) => messages[1]!.socket.once('close', resolve))
    expect(heldBytes(memory)).toBe(one)
    expect(holdOf(messages[1]!, budget).take(1)).toBe(false)
    expect(heldBytes(memory)).toBe(one)
  })

  test('gives one connection a share, but for a single request as much as there is', () => {
    const budget = createBudget(budgetMemory(1), 0, LIMIT)
    const socket = new PassThrough()
    const [first, second, third] = [{ socket }, { socket }, { socket }].map((message) => holdOf(message, budget))
    expect(first!.take(LIMIT / 8)).toBe(true)
    expect(second!.take(KIB)).toBe(true)
    expect(third!.take(1)).toBe(false)
    expect(new Hold(budget, new PassThrough()).take(LIMIT / 2)).toBe(true)
    first!.release()
    expect(third!.take(1)).toBe(true)
  })
})

test('a body is what its pieces were, and holds at most three times its length', () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(pieces, fc.boolean(), (parts, isKnown) => {
      const memory = budgetMemory(1)
      const whole = Buffer.concat(parts)
      const message = { socket: new PassThrough() }
      const budget = createBudget(memory, 0, 16 * LIMIT)
      const body = new BodyBuffer(() => holdOf(message, budget), isKnown ? whole.length : undefined)
      for (const part of parts) {
        // As it comes from a socket: not a part of a pool, all of which would be counted.
        expect(body.add(Buffer.from(part.slice().buffer))).toBe(true)
        expect(heldBytes(memory)).toBeLessThanOrEqual(3 * body.length + 18 * KIB)
      }
      expect(body.bytes!.equals(whole)).toBe(true)
      if (parts.length > 1) expect(heldBytes(memory)).toBeGreaterThanOrEqual(whole.length)
      releaseHold(message)
      expect(heldBytes(memory)).toBe(0)
    }),
  )
})

test('a body without room is not kept', () => {
  const memory = budgetMemory(1)
  const message = { socket: new PassThrough() }
  const body = new BodyBuffer(() => holdOf(message, createBudget(memory, 0, 64 * KIB)))
  let added = 0
  while (body.add(Buffer.allocUnsafeSlow(KIB))) added++
  expect(added).toBeGreaterThan(20)
  expect(added).toBeLessThan(64)
  expect([body.length, body.bytes]).toEqual([0, undefined])
})

import { expect, it } from 'vitest'
import { Admission, type Line } from '../src/http/admission.ts'

const MAX_WAIT = 50

/** A loop with a clock of its own. */
class Loop {
  now = 0
  idle = 0
  processor = 0
  readonly admission = new Admission(MAX_WAIT, () => ({ now: this.now, idle: this.idle, processor: this.processor }))

  /** The loop works for so long; its machine is busy with others for `stolen` more (ms). */
  work(ms: number, stolen = 0): void {
    this.now += ms + stolen
    this.processor += ms
  }

  /** A turn that brings so many requests, which take so long each. @returns how many were taken */
  turn(requests: number, each: number, stolen = 0): number {
    let taken = 0
    for (let i = 0; i < requests; i++) {
      if (!this.admission.takes(this.now)) continue
      taken++
      this.work(each, stolen)
    }
    this.admission.tick()
    return taken
  }

  /** Nothing is to be done for so long (ms). */
  rest(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.admission.tick()) {
      this.now += 20
      this.idle += 20
    }
  }

  /** A line in which up to `most` wait, all that there is room for; every 20 ms `done` of them end. @returns the most that waited at last */
  queue(line: Line, most: number, done: number, ms: number, rests = false): number {
    let count = 0
    let highest = 0
    for (const end = this.now + ms; this.now < end; this.admission.tick()) {
      for (; count < most && line.hasRoom(); count++) line.begun()
      if (this.now > end - ms / 2) highest = Math.max(highest, count)
      this.work(20)
      if (rests) this.idle += 20
      for (let i = 0; i < done && count > 0; i++, count--) line.ended()
    }
    for (; count > 0; count--) line.ended()
    return highest
  }
}

/** A loop that has had no rest for a while. */
function busyLoop(): Loop {
  const loop = new Loop()
  for (let turn = 0; turn < 6; turn++) loop.turn(100, 1)
  return loop
}

it('takes a crowd of a moment, and what comes behind one dear request', () => {
  const loop = new Loop()
  expect(loop.turn(2_000, 0.5)).toBe(2_000)
  loop.rest(40)
  expect(loop.turn(1, 10_000)).toBe(1)
  expect(loop.turn(500, 1)).toBe(500)
})

it('takes requests for `maxWait` of a turn where the loop has no rest', () => {
  const loop = busyLoop()
  for (const taken of Array.from({ length: 50 }, () => loop.turn(200, 1))) {
    expect(taken).toBeGreaterThanOrEqual(MAX_WAIT)
    expect(taken).toBeLessThanOrEqual(MAX_WAIT + 1)
  }
})

it('takes everything again when the loop has had a rest', () => {
  const loop = busyLoop()
  expect(loop.turn(200, 1)).toBe(51)
  loop.rest(500)
  expect(loop.turn(200, 1)).toBe(200)
})

it('takes the first 16 of a turn, however dear they are', () => {
  const loop = busyLoop()
  for (let turn = 0; turn < 20; turn++) expect(loop.turn(40, 100)).toBe(16)
})

it('takes everything where a turn is long because the machine is busy with others', () => {
  const loop = busyLoop()
  for (let turn = 0; turn < 50; turn++) expect(loop.turn(200, 0.2, 1)).toBe(200)
})

it.each([
  { what: 'changes that wait for the disk', isChange: true, done: 1, most: 64, rests: true },
  { what: 'changes that wait for the processor', isChange: true, done: 1, most: 16, rests: false },
  { what: 'reads that wait for main', isChange: false, done: 1, most: 16, rests: true },
  { what: 'changes at a pace', isChange: true, done: 40, most: 2 * MAX_WAIT, rests: true },
])('bounds $what to those that end within `maxWait`, or to $most', ({ isChange, done, most, rests }) => {
  const loop = new Loop()
  // What was taken at first has to end first.
  const waiting = loop.queue(loop.admission.queue(isChange), 2 * most, done, 30_000, rests)
  expect(waiting).toBeGreaterThanOrEqual(0.9 * most)
  expect(waiting).toBeLessThanOrEqual(1.3 * most)
})

it('bounds no changes because the machine is busy with others', () => {
  const loop = new Loop()
  const line = loop.admission.queue(true)
  for (let i = 0; i < 200; i++) line.begun()
  for (let turn = 0; turn < 100; turn++) {
    loop.work(1, 19)
    loop.admission.tick()
    for (let i = 0; i < 5; i++) {
      line.ended()
      expect(line.hasRoom()).toBe(true)
      line.begun()
    }
  }
})

it('takes a crowd of changes that has gone within a window', () => {
  const loop = new Loop()
  const line = loop.admission.queue(true)
  for (let crowd = 0; crowd < 10; crowd++) {
    expect(loop.queue(line, 400, 100, 80)).toBeGreaterThanOrEqual(300)
    loop.rest(300)
  }
})

it('takes changes that waited while one request held the loop', () => {
  const loop = new Loop()
  const line = loop.admission.queue(true)
  for (let i = 0; i < 500; i++) line.begun()
  loop.work(5_000)
  loop.admission.tick()
  expect(line.hasRoom()).toBe(true)
  for (let i = 0; i < 500; i++) line.ended()
  loop.rest(1_000)
  expect(line.hasRoom()).toBe(true)
})

it('bounds what Fastify answers only while the loop has no rest', () => {
  const loop = new Loop()
  const line = loop.admission.lineFor('read')
  for (let i = 0; i < 100; i++) line.begun()
  loop.rest(1_000)
  expect(line.hasRoom()).toBe(true)
  for (let turn = 0; turn < 40; turn++) loop.turn(1, 20)
  expect(line.hasRoom()).toBe(false)
  for (let i = 0; i < 85; i++) line.ended()
  expect(line.hasRoom()).toBe(true)
})

it('does not let the line of one route bound another', () => {
  const loop = new Loop()
  const [dear, other] = [loop.admission.queue(true), loop.admission.queue(true)]
  expect(loop.queue(dear, 1_000, 1, 3_000)).toBeGreaterThan(16)
  expect(dear.hasRoom()).toBe(true)
  for (let i = 0; i < 200; i++) dear.begun()
  for (let turn = 0; turn < 60; turn++) loop.turn(1, 20)
  expect([dear.hasRoom(), other.hasRoom()]).toEqual([false, true])
})

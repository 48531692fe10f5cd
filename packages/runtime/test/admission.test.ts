import { describe, expect, it } from 'vitest'
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

/** As many as come in one crowd. */
const CROWD = 1_000

it('takes all after many busy times with rests between, and after a long one in which others had the processors', () => {
  const [resting, starved] = [new Loop(), new Loop()]
  for (let time = 0; time < 30; time++) {
    for (let turn = 0; turn < 5; turn++) resting.turn(1, 100)
    resting.rest(1_000)
    starved.turn(2, 1, 500)
  }
  for (let turn = 0; turn < 5; turn++) resting.turn(1, 100)
  expect([resting.turn(40, 100), starved.turn(200, 1)]).toEqual([40, 200])
})

/** A loop that has had no rest for longer than a crowd takes. */
function busyLoop(): Loop {
  const loop = new Loop()
  for (let turn = 0; turn < 30; turn++) loop.turn(50, 1)
  return loop
}

it.each([
  { what: 'at once', perTurn: CROWD, stolen: 0 },
  { what: 'in some turns', perTurn: 100, stolen: 0 },
  { what: 'one a turn', perTurn: 1, stolen: 0 },
  { what: 'in some turns of a machine that is busy with others', perTurn: 20, stolen: 30 },
])('takes a crowd that comes $what, and the next once it is gone', ({ perTurn, stolen }) => {
  const loop = new Loop()
  const [queue, work] = [loop.admission.queue(true), loop.admission.lineFor('read')]
  for (let crowd = 0; crowd < 3; crowd++) {
    for (let come = 0; come < CROWD; come += perTurn) {
      for (let i = 0; i < perTurn; i++) {
        expect([loop.admission.takes(loop.now), queue.hasRoom(), work.hasRoom()]).toEqual([true, true, true])
        queue.begun()
        work.begun()
        loop.work(1, stolen)
      }
      loop.admission.tick()
    }
    for (let i = 0; i < CROWD; i++) {
      queue.ended()
      work.ended()
    }
    loop.rest(1_000)
  }
})

it.each([
  { perTurn: 60, each: 1, least: CROWD, most: 3 * CROWD },
  // Dear ones are few: then it is the time that tells.
  { perTurn: 20, each: 40, least: 500, most: CROWD },
])(
  'takes no more when $perTurn of $each ms come each turn, after $least to $most',
  ({ perTurn, each, least, most }) => {
    const loop = new Loop()
    const line = loop.admission.queue(true)
    let come = 0
    for (; line.hasRoom(); come++) {
      line.begun()
      // Three times what can be done.
      if (come % 3 === 0) loop.work(each)
      if (come % 3 === 0 && come > 0) line.ended()
      if (come % perTurn === 0) loop.admission.tick()
      expect(come).toBeLessThan(most)
    }
    expect(come).toBeGreaterThan(least)
  },
)

it('takes a crowd of a moment, and what comes behind one dear request', () => {
  const loop = new Loop()
  expect(loop.turn(2_000, 0.5)).toBe(2_000)
  loop.rest(40)
  expect(loop.turn(1, 10_000)).toBe(1)
  expect(loop.turn(500, 1)).toBe(500)
})

it('takes requests for `maxQueueDelay` of a turn where the loop has no rest', () => {
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
])('bounds $what to those that end within `maxQueueDelay`, or to $most', ({ isChange, done, most, rests }) => {
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
  for (let turn = 0; turn < 600; turn++) loop.turn(1, 20)
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
  for (let turn = 0; turn < 600; turn++) loop.turn(1, 20)
  expect([dear.hasRoom(), other.hasRoom()]).toEqual([false, true])
})

describe('changes that Fastify answers', () => {
  /** Clients that send one each so many ms, of which one is answered each 20 ms; how long those that were taken waited. */
  function flood(every: number, ms: number, clients: number) {
    const loop = new Loop()
    const line = loop.admission.lineFor('change')
    const waited: { at: number; ms: number }[] = []
    const begun: { at: number }[] = []
    let [waiting, refused, most] = [0, 0, 0]
    function ask(): void {
      if (waiting >= clients) return
      if (!line.hasRoom()) return void refused++
      const request = { at: loop.now }
      waiting++
      line.begun()
      line.enter(request, (isTaken) => {
        if (isTaken) return void (most = Math.max(most, begun.push(request)))
        refused++
        waiting--
        line.ended(false, request)
      })
    }
    let asked = 0
    while (loop.now < ms) {
      for (; asked < loop.now; asked += every) ask()
      loop.work(20)
      const done = begun.shift()
      if (done) {
        waiting--
        line.ended(true, done)
        waited.push({ at: done.at, ms: loop.now - done.at })
      }
      loop.admission.tick()
    }
    return { waited, refused, most }
  }

  it('are refused where they were held when an overload is told: who is taken waits no longer than few take', () => {
    // Three times what can be done, by 400 clients: when that has gone on for long enough, all of them wait.
    const { waited, refused, most } = flood(6.67, 40_000, 400)
    const late = waited.filter(({ at, ms }) => at + ms > 12_000)
    expect(late.length).toBeGreaterThan(1_000)
    expect(Math.max(...late.map(({ ms }) => ms))).toBeLessThan(1_000)
    expect(refused).toBeGreaterThan(2_000)
    // A window passes before it is known that many wait.
    expect(most).toBeLessThan(100)
    // All that were taken first are not thrown away.
    expect(waited.length).toBeGreaterThan(0.9 * (40_000 / 20))
  })

  it('are all answered where they are a crowd of a moment, in their order', () => {
    const loop = new Loop()
    const line = loop.admission.lineFor('change')
    const begun: number[] = []
    const answered: number[] = []
    for (let i = 0; i < CROWD; i++) {
      line.begun()
      if (i === CROWD / 2) for (let turn = 0; turn < 100; turn++) loop.turn(1, 20)
      line.enter(i, (isTaken) => begun.push(isTaken ? i : NaN))
    }
    while (answered.length < CROWD) {
      loop.work(20)
      const done = begun.shift()!
      answered.push(done)
      line.ended(true, done)
      loop.admission.tick()
    }
    expect(answered).toEqual(Array.from({ length: CROWD }, (_, i) => i))
  })

  it('take no place when their clients have left', () => {
    const loop = new Loop()
    const line = loop.admission.lineFor('change')
    for (let i = 0; i < 200; i++) {
      line.begun()
      if (i < 100) line.enter(i, () => {})
    }
    for (let turn = 0; turn < 40; turn++) loop.turn(1, 20)
    const begun: number[] = []
    for (let i = 100; i < 200; i++) line.enter(i, () => begun.push(i))
    for (let i = 100; i < 199; i++) line.ended(false, i)
    expect(begun).toEqual([])
    for (let i = 0; i < 100; i++) line.ended(true, i)
    expect(begun).toEqual([199])
  })
})

import { describe, expect, it } from 'vitest'
import { LoadShedder, type RouteQueue } from '../src/http/request/load-shedding.ts'

const MAX_WAIT = 50

/** An event loop with a simulated clock. */
class FakeLoop {
  now = 0
  idle = 0
  processor = 0
  readonly loadShedder = new LoadShedder(MAX_WAIT, () => ({
    now: this.now,
    idle: this.idle,
    processor: this.processor,
  }))

  /** The loop works for `ms`; other processes use the processor for `stolen` more (ms). */
  work(ms: number, stolen = 0): void {
    this.now += ms + stolen
    this.processor += ms
  }

  /**
   * Runs a turn with the given number of requests, each of which takes `each` ms.
   * @returns the number of accepted requests
   */
  runTurn(requests: number, each: number, stolen = 0): number {
    let taken = 0
    for (let i = 0; i < requests; i++) {
      if (!this.loadShedder.canAccept(this.now)) continue
      taken++
      this.work(each, stolen)
    }
    this.loadShedder.tick()
    return taken
  }

  /** The loop is idle (ms). */
  rest(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.loadShedder.tick()) {
      this.now += 20
      this.idle += 20
    }
  }

  /**
   * Fills a queue with up to `max` requests while it has capacity. Every 20 ms `done` of them end.
   * @returns maximum queue length in the second half
   */
  fillQueue(queue: RouteQueue, max: number, done: number, ms: number, rests = false): number {
    let count = 0
    let highest = 0
    for (const end = this.now + ms; this.now < end; this.loadShedder.tick()) {
      for (; count < max && queue.hasCapacity(); count++) queue.add()
      if (this.now > end - ms / 2) highest = Math.max(highest, count)
      this.work(20)
      if (rests) this.idle += 20
      for (let i = 0; i < done && count > 0; i++, count--) queue.finish()
    }
    for (; count > 0; count--) queue.finish()
    return highest
  }
}

/** Number of requests in a burst. */
const BURST_SIZE = 1_000

it('accepts all after busy periods with rests, and after a long one on a busy machine', () => {
  const [resting, starved] = [new FakeLoop(), new FakeLoop()]
  for (let time = 0; time < 30; time++) {
    for (let turn = 0; turn < 5; turn++) resting.runTurn(1, 100)
    resting.rest(1_000)
    starved.runTurn(2, 1, 500)
  }
  for (let turn = 0; turn < 5; turn++) resting.runTurn(1, 100)
  expect([resting.runTurn(40, 100), starved.runTurn(200, 1)]).toEqual([40, 200])
})

/** A loop that was busy for longer than a burst takes. */
function createBusyLoop(): FakeLoop {
  const loop = new FakeLoop()
  for (let turn = 0; turn < 30; turn++) loop.runTurn(50, 1)
  return loop
}

it.each([
  { what: 'at once', perTurn: BURST_SIZE, stolen: 0 },
  { what: 'in some turns', perTurn: 100, stolen: 0 },
  { what: 'one a turn', perTurn: 1, stolen: 0 },
  { what: 'in some turns of a machine that is busy with others', perTurn: 20, stolen: 30 },
])('accepts a burst that comes $what, and another one after it', ({ perTurn, stolen }) => {
  const loop = new FakeLoop()
  const [queue, work] = [loop.loadShedder.createQueue(true), loop.loadShedder.createFastifyQueue('read')]
  for (let burst = 0; burst < 3; burst++) {
    for (let come = 0; come < BURST_SIZE; come += perTurn) {
      for (let i = 0; i < perTurn; i++) {
        expect([loop.loadShedder.canAccept(loop.now), queue.hasCapacity(), work.hasCapacity()]).toEqual([
          true,
          true,
          true,
        ])
        queue.add()
        work.add()
        loop.work(1, stolen)
      }
      loop.loadShedder.tick()
    }
    for (let i = 0; i < BURST_SIZE; i++) {
      queue.finish()
      work.finish()
    }
    loop.rest(1_000)
  }
})

it.each([
  { perTurn: 60, each: 1, least: BURST_SIZE, max: 3 * BURST_SIZE },
  // Slow requests reach the time limit before the count limit.
  { perTurn: 20, each: 40, least: 500, max: BURST_SIZE },
])(
  'accepts no more after $least to $max requests, if $perTurn of $each ms come each turn',
  ({ perTurn, each, least, max: most }) => {
    const loop = new FakeLoop()
    const queue = loop.loadShedder.createQueue(true)
    let come = 0
    for (; queue.hasCapacity(); come++) {
      queue.add()
      // Three times the capacity.
      if (come % 3 === 0) loop.work(each)
      if (come % 3 === 0 && come > 0) queue.finish()
      if (come % perTurn === 0) loop.loadShedder.tick()
      expect(come).toBeLessThan(most)
    }
    expect(come).toBeGreaterThan(least)
  },
)

it('accepts a short burst, and the requests that follow one slow request', () => {
  const loop = new FakeLoop()
  expect(loop.runTurn(2_000, 0.5)).toBe(2_000)
  loop.rest(40)
  expect(loop.runTurn(1, 10_000)).toBe(1)
  expect(loop.runTurn(500, 1)).toBe(500)
})

it('accepts requests for `maxQueueDelay` of a turn while the loop has no rest', () => {
  const loop = createBusyLoop()
  for (const taken of Array.from({ length: 50 }, () => loop.runTurn(200, 1))) {
    expect(taken).toBeGreaterThanOrEqual(MAX_WAIT)
    expect(taken).toBeLessThanOrEqual(MAX_WAIT + 1)
  }
})

it('accepts everything again after the loop has had a rest', () => {
  const loop = createBusyLoop()
  expect(loop.runTurn(200, 1)).toBe(51)
  loop.rest(500)
  expect(loop.runTurn(200, 1)).toBe(200)
})

it('accepts the first 16 of a turn, however slow they are', () => {
  const loop = createBusyLoop()
  for (let turn = 0; turn < 20; turn++) expect(loop.runTurn(40, 100)).toBe(16)
})

it('accepts everything while turns are long because of other processes', () => {
  const loop = createBusyLoop()
  for (let turn = 0; turn < 50; turn++) expect(loop.runTurn(200, 0.2, 1)).toBe(200)
})

it.each([
  { what: 'changes that wait for the disk', isChange: true, done: 1, max: 64, rests: true },
  { what: 'changes that wait for the processor', isChange: true, done: 1, max: 16, rests: false },
  { what: 'reads that wait for main', isChange: false, done: 1, max: 16, rests: true },
  { what: 'changes at a pace', isChange: true, done: 40, max: 2 * MAX_WAIT, rests: true },
])('bounds $what to those that end within `maxQueueDelay`, or to $max', ({ isChange, done, max: most, rests }) => {
  const loop = new FakeLoop()
  // The requests accepted first have to end first.
  const waiting = loop.fillQueue(loop.loadShedder.createQueue(isChange), 2 * most, done, 30_000, rests)
  expect(waiting).toBeGreaterThanOrEqual(0.9 * most)
  expect(waiting).toBeLessThanOrEqual(1.3 * most)
})

it('does not bound changes because of other processes on the machine', () => {
  const loop = new FakeLoop()
  const queue = loop.loadShedder.createQueue(true)
  for (let i = 0; i < 200; i++) queue.add()
  for (let turn = 0; turn < 100; turn++) {
    loop.work(1, 19)
    loop.loadShedder.tick()
    for (let i = 0; i < 5; i++) {
      queue.finish()
      expect(queue.hasCapacity()).toBe(true)
      queue.add()
    }
  }
})

it('accepts changes that waited while one request blocked the loop', () => {
  const loop = new FakeLoop()
  const queue = loop.loadShedder.createQueue(true)
  for (let i = 0; i < 500; i++) queue.add()
  loop.work(5_000)
  loop.loadShedder.tick()
  expect(queue.hasCapacity()).toBe(true)
  for (let i = 0; i < 500; i++) queue.finish()
  loop.rest(1_000)
  expect(queue.hasCapacity()).toBe(true)
})

it('bounds the requests of Fastify only while the loop has no rest', () => {
  const loop = new FakeLoop()
  const queue = loop.loadShedder.createFastifyQueue('read')
  for (let i = 0; i < 100; i++) queue.add()
  loop.rest(1_000)
  expect(queue.hasCapacity()).toBe(true)
  for (let turn = 0; turn < 600; turn++) loop.runTurn(1, 20)
  expect(queue.hasCapacity()).toBe(false)
  for (let i = 0; i < 85; i++) queue.finish()
  expect(queue.hasCapacity()).toBe(true)
})

it('does not bound one route because of the queue of another', () => {
  const loop = new FakeLoop()
  const [dear, other] = [loop.loadShedder.createQueue(true), loop.loadShedder.createQueue(true)]
  expect(loop.fillQueue(dear, 1_000, 1, 3_000)).toBeGreaterThan(16)
  expect(dear.hasCapacity()).toBe(true)
  for (let i = 0; i < 200; i++) dear.add()
  for (let turn = 0; turn < 600; turn++) loop.runTurn(1, 20)
  expect([dear.hasCapacity(), other.hasCapacity()]).toEqual([false, true])
})

describe('changes on Fastify routes', () => {
  /**
   * Clients send one request every `every` ms and get one reply every 20 ms.
   * @returns wait times of the accepted requests
   */
  function sendFlood(every: number, ms: number, clients: number) {
    const loop = new FakeLoop()
    const queue = loop.loadShedder.createFastifyQueue('change')
    const waited: { at: number; ms: number }[] = []
    const begun: { at: number }[] = []
    let [waiting, refused, max] = [0, 0, 0]
    function request(): void {
      if (waiting >= clients) return
      if (!queue.hasCapacity()) return void refused++
      const request = { at: loop.now }
      waiting++
      queue.add()
      queue.start(request, (isTaken) => {
        if (isTaken) return void (max = Math.max(max, begun.push(request)))
        refused++
        waiting--
        queue.finish(false, request)
      })
    }
    let nextAt = 0
    while (loop.now < ms) {
      for (; nextAt < loop.now; nextAt += every) request()
      loop.work(20)
      const done = begun.shift()
      if (done) {
        waiting--
        queue.finish(true, done)
        waited.push({ at: done.at, ms: loop.now - done.at })
      }
      loop.loadShedder.tick()
    }
    return { waited, refused, most: max }
  }

  it('are refused where they wait during an overload, and accepted ones do not wait long', () => {
    // Three times the capacity, by 400 clients: in a sustained overload, all of them would wait.
    const { waited, refused, most: max } = sendFlood(6.67, 40_000, 400)
    const late = waited.filter(({ at, ms }) => at + ms > 12_000)
    expect(late.length).toBeGreaterThan(1_000)
    expect(Math.max(...late.map(({ ms }) => ms))).toBeLessThan(1_000)
    expect(refused).toBeGreaterThan(2_000)
    // The length of the queue is known only after a time window.
    expect(max).toBeLessThan(100)
    // The throughput stays near the capacity, so the first accepted changes are not all discarded.
    expect(waited.length).toBeGreaterThan(0.9 * (40_000 / 20))
  })

  it('are all answered in order if they are a short burst', () => {
    const loop = new FakeLoop()
    const queue = loop.loadShedder.createFastifyQueue('change')
    const begun: number[] = []
    const answered: number[] = []
    for (let i = 0; i < BURST_SIZE; i++) {
      queue.add()
      if (i === BURST_SIZE / 2) for (let turn = 0; turn < 100; turn++) loop.runTurn(1, 20)
      queue.start(i, (isTaken) => begun.push(isTaken ? i : NaN))
    }
    while (answered.length < BURST_SIZE) {
      loop.work(20)
      const done = begun.shift()!
      answered.push(done)
      queue.finish(true, done)
      loop.loadShedder.tick()
    }
    expect(answered).toEqual(Array.from({ length: BURST_SIZE }, (_, i) => i))
  })

  it('take no capacity after their clients have left', () => {
    const loop = new FakeLoop()
    const queue = loop.loadShedder.createFastifyQueue('change')
    for (let i = 0; i < 200; i++) {
      queue.add()
      if (i < 100) queue.start(i, () => {})
    }
    for (let turn = 0; turn < 40; turn++) loop.runTurn(1, 20)
    const begun: number[] = []
    for (let i = 100; i < 200; i++) queue.start(i, () => begun.push(i))
    for (let i = 100; i < 199; i++) queue.finish(false, i)
    expect(begun).toEqual([])
    for (let i = 0; i < 100; i++) queue.finish(true, i)
    expect(begun).toEqual([199])
  })
})

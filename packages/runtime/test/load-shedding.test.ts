import { expect, it } from 'vitest'
import { BURST_SIZE, FakeLoop, MAX_WAIT } from './support/fake-loop.ts'

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

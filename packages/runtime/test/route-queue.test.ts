import { describe, expect, it } from 'vitest'
import { BURST_SIZE, FakeLoop } from './support/fake-loop.ts'

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

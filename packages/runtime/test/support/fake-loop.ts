import { LoadShedder, type RouteQueue } from '../../src/http/request/load-shedding.ts'

/** Maximum queue delay (ms). */
export const MAX_WAIT = 50

/** An event loop with a simulated clock. */
export class FakeLoop {
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
export const BURST_SIZE = 1_000

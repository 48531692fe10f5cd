import * as fc from 'fast-check'
import { Counter, Gauge, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createThreadMetricsMerger, type ThreadMetrics } from '../src/metrics/thread-metrics.ts'
import { mergeMetrics } from '../src/metrics/process-metrics.ts'

/** A thread that counts. Its replacement starts at 0. */
class FakeThread {
  readonly #index: number
  #life = 0
  #registry!: Registry
  #counter!: Counter
  constructor(index: number) {
    this.#index = index
    this.replace()
  }
  replace(): void {
    this.#life++
    this.#registry = new Registry()
    this.#counter = new Counter({ name: 'things_total', help: 'Things.', registers: [this.#registry] })
    new Gauge({ name: 'open', help: 'Open.', registers: [this.#registry] }).set(1)
  }
  count(n: number): void {
    this.#counter.inc(n)
  }
  async merger(): Promise<ThreadMetrics> {
    const metrics = await this.#registry.getMetricsAsJSON()
    return { index: this.#index, threadId: this.#life, metrics: structuredClone(metrics) }
  }
}

const step = fc.record({
  thread: fc.nat(2),
  what: fc.constantFrom('count' as const, 'replace' as const, 'scrape' as const),
  silent: fc.subarray([0, 1, 2]),
})

test('counters add up all reports and never fall; gauges include only threads that answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const threads = [0, 1, 2].map((index) => new FakeThread(index))
      const mergeThreads = createThreadMetricsMerger()
      // The last reported count of each run of a thread.
      const reported = new Map<string, number>()
      const counted = [0, 0, 0]
      const lives = [0, 0, 0]
      for (const { thread, what, silent } of steps) {
        if (what === 'count') threads[thread]!.count(++counted[thread]! && 1)
        if (what === 'replace') {
          threads[thread]!.replace()
          counted[thread] = 0
          lives[thread]!++
        }
        if (what !== 'scrape') continue
        const answering = [0, 1, 2].filter((index) => !silent.includes(index))
        for (const index of answering) reported.set(`${index}/${lives[index]}`, counted[index]!)
        const answers = await Promise.all(answering.map((index) => threads[index]!.merger()))
        const text = await mergeMetrics(await mergeThreads(answers))
        const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
        expect(value('things_total')).toBe([...reported.values()].reduce((sum, n) => sum + n, 0))
        expect(value('open')).toBe(answering.length)
      }
    }),
  )
})

import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { ApiKeys } from '../src/youtube/api-keys.ts'
import { createCalls } from '../src/youtube/youtube-call.ts'
import { toUpstreamFault } from '../src/youtube/upstream-problem.ts'
import { getRemainingQuota } from '../src/core/quota-budget.ts'
import { Schedule } from '../src/refresh/schedule.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { videoIds } from './support/fake-youtube.ts'
import { healthy, outages, type Outage } from './support/outages.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const WINDOW_MS = 15 * SECOND_MS
const LATENCY_MS = 100
const BUDGETS = [0, 10_000, 200_000]
const VIDEOS = 1_000

/** Midnight Pacific Time. */
const RESET_MS = Date.parse('2026-11-20T08:00:00Z')
const WARM_UP_MS = 10 * MINUTE_MS
const OUTAGE = 30 * MINUTE_MS

interface OutageSample {
  readonly at: number
  readonly ids: number
  readonly ok: boolean
}

/** A schedule and a client with an API that fails at times, on a clock that jumps from event to event. */
class OutageRun {
  readonly calls: OutageSample[] = []
  readonly known = new Map<string, number>()
  readonly #ids = videoIds(VIDEOS)
  readonly #begin: number
  readonly #meter: QuotaMeter
  readonly #schedule: Schedule
  readonly #call: (ids: readonly string[]) => Promise<unknown>
  readonly #outage: Outage
  #now = 0
  #events: { at: number; run: () => void }[] = []

  constructor(budget: number, outage: Outage) {
    this.#outage = outage
    this.#begin = RESET_MS - WARM_UP_MS - OUTAGE
    this.#meter = new QuotaMeter(QuotaMeter.createMemory(), budget, { now: () => this.#begin + this.#now })
    this.#schedule = new Schedule({ idsPerCall: 50, connections: 16, minInterval: 10 * SECOND_MS }, 0)
    this.#schedule.add(this.#ids, 0)
    const [keys, logger] = [new ApiKeys({ text: 'a-key-of-a-test' }), createSilentLogger()]
    const options = { uri: 'http://youtube.test', keys, timeout: 60_000, connections: 16, logger }
    const get = async (path: string) => {
      const ids = new URL(path, 'http://youtube.test').searchParams.get('id')!.split(',')
      return this.isOut ? this.#outage.answer(ids) : healthy(ids)
    }
    this.#call = createCalls({ ...options, meter: this.#meter }, get, 50).call
  }

  get isOut(): boolean {
    return this.#now >= WARM_UP_MS && this.#now < WARM_UP_MS + OUTAGE
  }

  async runUntil(end: number): Promise<void> {
    while (this.#now < end) {
      for (let call; (call = this.#schedule.next(this.#now, this.#remainingQuota()));) await this.#make(call)
      const wake = Math.max(this.#now + 1, this.#schedule.getWakeAt(this.#now, this.#remainingQuota()))
      this.#now = Math.min(end, wake, this.#events[0]?.at ?? Infinity, this.#now + MINUTE_MS)
      while (this.#events[0] && this.#events[0].at <= this.#now) this.#events.shift()!.run()
    }
  }

  async #make(call: Parameters<Schedule['recordFailure']>[0]): Promise<void> {
    const [at, isOut] = [this.#now, this.isOut]
    const fault = await this.#call(call.ids).then(
      () => undefined,
      (problem) => problem,
    )
    this.calls.push({ at, ids: call.ids.length, ok: fault === undefined })
    this.#runLater(isOut ? (this.#outage.latency ?? LATENCY_MS) : LATENCY_MS, () => {
      if (fault) return this.#schedule.recordFailure(call, this.#now, this.#remainingQuota(), toUpstreamFault(fault))
      for (const id of call.ids) this.known.set(id, at)
      this.#schedule.recordSuccess(call, at, this.#now)
    })
  }

  #runLater(delay: number, run: () => void): void {
    this.#events.push({ at: this.#now + delay, run })
    this.#events.sort((a, b) => a.at - b.at)
  }

  #remainingQuota = () => getRemainingQuota(this.#meter.budget, this.#meter.used, this.#begin + this.#now)

  interval(): number {
    return this.#schedule.getInterval(this.#remainingQuota())
  }
}

/** The largest number of calls in 15 s. */
function countPeakCalls(calls: readonly OutageSample[]): number {
  let [largest, first] = [0, 0]
  for (const [i, { at }] of calls.entries()) {
    while (calls[first]!.at <= at - WINDOW_MS) first++
    largest = Math.max(largest, i - first + 1)
  }
  return largest
}

const table: (string | number)[][] = []

afterAll(() => {
  if (!process.env.OUTAGE_TABLE) return
  const head = [
    'outage',
    'daily budget',
    'calls per 15 s, healthy',
    'in the outage',
    'after it',
    'calls in 30 min, healthy',
    'in the outage',
    'ids per call, least',
    'all fresh after (s)',
  ]
  const rows = [head, head.map(() => '---'), ...table].map((row) => `| ${row.join(' | ')} |\n`)
  writeFileSync(process.env.OUTAGE_TABLE, rows.join(''))
})

describe.each(BUDGETS)('1,000 videos at a daily budget of %i', (budget) => {
  const healthyRun = async () => {
    const run = new OutageRun(budget, { name: 'none', answer: healthy, recovery: 0 })
    await run.runUntil(WARM_UP_MS + OUTAGE + 30 * MINUTE_MS)
    return run
  }
  let first: Promise<OutageRun> | undefined
  const during = ({ at }: OutageSample) => at >= WARM_UP_MS && at < WARM_UP_MS + OUTAGE

  it.each(outages)(
    '$name: never more calls than in health, no smaller calls, and a bounded recovery',
    async (outage) => {
      const control = await (first ??= healthyRun())
      const run = new OutageRun(budget, outage)
      await run.runUntil(WARM_UP_MS + OUTAGE)
      const interval = run.interval()
      const end = WARM_UP_MS + OUTAGE
      // A slot of the budget until the probe, then a round.
      const bound = outage.recovery + (budget && (24 * 60 * MINUTE_MS) / budget) + 2 * interval + SECOND_MS
      await run.runUntil(end + bound)
      const inOutage = run.calls.filter(during)
      const after = run.calls.filter(({ at }) => at >= end)
      const oldest = Math.min(...run.known.values())
      let fresh = 0
      const freshAfter = after.find(({ ok, ids }) => (fresh += ok ? ids : 0) >= VIDEOS)
      const healthyPeak = countPeakCalls(control.calls.filter(({ at }) => at >= MINUTE_MS))
      const row = [
        outage.name,
        budget,
        healthyPeak,
        countPeakCalls(inOutage),
        countPeakCalls(after),
        control.calls.filter(during).length,
        inOutage.length,
      ]
      table.push([
        ...row,
        Math.min(...inOutage.map(({ ids }) => ids)),
        freshAfter ? Math.round((freshAfter.at - end) / SECOND_MS) : 'never',
      ])
      expect(run.known.size).toBe(VIDEOS)
      expect(inOutage.filter(({ ok }) => ok)).toEqual([])
      expect(countPeakCalls(run.calls.filter(({ at }) => at >= MINUTE_MS))).toBeLessThanOrEqual(healthyPeak)
      expect(inOutage.length).toBeLessThanOrEqual(control.calls.filter(during).length)
      expect(inOutage.every(({ ids }) => ids === 50)).toBe(true)
      expect(oldest).toBeGreaterThanOrEqual(end)
    },
  )
})

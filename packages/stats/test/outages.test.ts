import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { ApiKeys } from '../src/client/api-keys.ts'
import { createCall } from '../src/client/call.ts'
import { faultOf } from '../src/client/fault.ts'
import { allowance } from '../src/core/pace.ts'
import { Schedule } from '../src/core/schedule.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import { QuotaMeter } from '../src/quota-meter.ts'
import { videoIds } from './support/fake-youtube.ts'
import { healthy, outages, type Outage } from './support/outages.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const WINDOW = 15 * SECOND
const LATENCY = 100
const BUDGETS = [0, 10_000, 200_000]
const VIDEOS = 1_000

/** Midnight Pacific Time. */
const RESET = Date.parse('2026-11-20T08:00:00Z')
const WARM_UP = 10 * MINUTE
const OUTAGE = 30 * MINUTE

interface Sample {
  readonly at: number
  readonly ids: number
  readonly ok: boolean
}

/** A schedule and a client with an API that fails at times, on a clock that jumps from event to event. */
class Run {
  readonly calls: Sample[] = []
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
    this.#begin = RESET - WARM_UP - OUTAGE
    this.#meter = new QuotaMeter(QuotaMeter.memory(), budget, { now: () => this.#begin + this.#now })
    this.#schedule = new Schedule({ idsPerCall: 50, connections: 16, fastest: 10 * SECOND }, 0)
    this.#schedule.want(this.#ids, 0)
    const [keys, logger] = [new ApiKeys({ text: 'a-key-of-a-test' }), createSilentLogger()]
    const options = { uri: 'http://youtube.test', keys, timeout: 60_000, connections: 16, logger }
    const get = async (path: string) => {
      const ids = new URL(path, 'http://youtube.test').searchParams.get('id')!.split(',')
      return this.isOut ? this.#outage.answer(ids) : healthy(ids)
    }
    this.#call = createCall({ ...options, meter: this.#meter }, get, 50)
  }

  get isOut(): boolean {
    return this.#now >= WARM_UP && this.#now < WARM_UP + OUTAGE
  }

  async until(end: number): Promise<void> {
    while (this.#now < end) {
      for (let call; (call = this.#schedule.next(this.#now, this.#allowance()));) await this.#make(call)
      const wake = Math.max(this.#now + 1, this.#schedule.wakeAt(this.#now, this.#allowance()))
      this.#now = Math.min(end, wake, this.#events[0]?.at ?? Infinity, this.#now + MINUTE)
      while (this.#events[0] && this.#events[0].at <= this.#now) this.#events.shift()!.run()
    }
  }

  async #make(call: Parameters<Schedule['failed']>[0]): Promise<void> {
    const [at, isOut] = [this.#now, this.isOut]
    const fault = await this.#call(call.ids).then(
      () => undefined,
      (problem) => problem,
    )
    this.calls.push({ at, ids: call.ids.length, ok: fault === undefined })
    this.#later(isOut ? (this.#outage.latency ?? LATENCY) : LATENCY, () => {
      if (fault) return this.#schedule.failed(call, this.#now, this.#allowance(), faultOf(fault))
      for (const id of call.ids) this.known.set(id, at)
      this.#schedule.succeeded(call, at, this.#now)
    })
  }

  #later(delay: number, run: () => void): void {
    this.#events.push({ at: this.#now + delay, run })
    this.#events.sort((a, b) => a.at - b.at)
  }

  #allowance = () => allowance(this.#meter.budget, this.#meter.used, this.#begin + this.#now)

  interval(): number {
    return this.#schedule.interval(this.#allowance())
  }
}

/** The largest number of calls in 15 s. */
function peak(calls: readonly Sample[]): number {
  let [largest, first] = [0, 0]
  for (const [i, { at }] of calls.entries()) {
    while (calls[first]!.at <= at - WINDOW) first++
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
    const run = new Run(budget, { name: 'none', answer: healthy, recovery: 0 })
    await run.until(WARM_UP + OUTAGE + 30 * MINUTE)
    return run
  }
  let first: Promise<Run> | undefined
  const during = ({ at }: Sample) => at >= WARM_UP && at < WARM_UP + OUTAGE

  it.each(outages)(
    '$name: never more calls than in health, no smaller calls, and a bounded recovery',
    async (outage) => {
      const control = await (first ??= healthyRun())
      const run = new Run(budget, outage)
      await run.until(WARM_UP + OUTAGE)
      const interval = run.interval()
      const end = WARM_UP + OUTAGE
      // A slot of the budget until the probe, then a round.
      const bound = outage.recovery + (budget && (24 * 60 * MINUTE) / budget) + 2 * interval + SECOND
      await run.until(end + bound)
      const inOutage = run.calls.filter(during)
      const after = run.calls.filter(({ at }) => at >= end)
      const oldest = Math.min(...run.known.values())
      let fresh = 0
      const freshAfter = after.find(({ ok, ids }) => (fresh += ok ? ids : 0) >= VIDEOS)
      const healthyPeak = peak(control.calls.filter(({ at }) => at >= MINUTE))
      const row = [
        outage.name,
        budget,
        healthyPeak,
        peak(inOutage),
        peak(after),
        control.calls.filter(during).length,
        inOutage.length,
      ]
      table.push([
        ...row,
        Math.min(...inOutage.map(({ ids }) => ids)),
        freshAfter ? Math.round((freshAfter.at - end) / SECOND) : 'never',
      ])
      expect(run.known.size).toBe(VIDEOS)
      expect(inOutage.filter(({ ok }) => ok)).toEqual([])
      expect(peak(run.calls.filter(({ at }) => at >= MINUTE))).toBeLessThanOrEqual(healthyPeak)
      expect(inOutage.length).toBeLessThanOrEqual(control.calls.filter(during).length)
      expect(inOutage.every(({ ids }) => ids === 50)).toBe(true)
      expect(oldest).toBeGreaterThanOrEqual(end)
    },
  )
})

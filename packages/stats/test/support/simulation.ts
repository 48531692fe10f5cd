import type { UpstreamFault } from '../../src/core/circuit-breaker.ts'
import { getRemainingQuota, getTimeUntilReset } from '../../src/core/quota-budget.ts'
import { Schedule, type ScheduledCall } from '../../src/refresh/schedule.ts'
import { QuotaMeter } from '../../src/quota/quota-meter.ts'

export interface SimulatedFaults {
  /** Times since the start (ms) during which no call succeeds. */
  readonly outages: readonly { from: number; for: number; kind: string }[]
  /** This share of the calls fails. */
  readonly errorRate: number
  readonly latency: number
  /** A call with one of these ids fails. */
  readonly poison: ReadonlySet<string>
}

const failing: UpstreamFault = { kind: 'server', detail: 'YouTube responded with 500', remedy: '' }
const unreachable: UpstreamFault = { kind: 'network', detail: 'YouTube is unreachable', remedy: '' }

const CONNECTIONS = 16
const MIN_INTERVAL_MS = 10_000
const TIMEOUT_MS = 5_000
const MINUTE_MS = 60_000
/** More calls than this mean an endless loop: a day of the largest budget takes 12,000. */
const MAX_CALLS = 40_000

/** Runs a schedule for hours on a simulated clock, with a YouTube whose faults the test defines. */
export class Simulation {
  /** Every call: its time (ms since the start), its number of ids, and its success. */
  readonly calls: { runAt: number; ids: number; ok: boolean }[] = []
  readonly usedByDay = new Map<string, number>()
  /** Number of ids that were requested while a call with them was in flight. */
  repeatedIds = 0
  /** Ids that were older than their share allows. */
  readonly late: string[] = []
  readonly #begin: number
  readonly #meter: QuotaMeter
  readonly #known = new Map<string, number>()
  readonly #ids = new Set<string>()
  readonly #pendingIds = new Set<string>()
  #events: { runAt: number; run: () => void }[] = []
  #schedule: Schedule
  #life = 0
  #now = 0
  #random: number
  /** Time since when there was no fault, and the longest interval since then. */
  #healthySince = 0
  #maxAge = 0

  constructor({ budget, start, seed = 1 }: { budget: number; start: number; seed?: number }) {
    this.#begin = start
    this.#random = seed >>> 0
    this.#meter = new QuotaMeter(QuotaMeter.createMemory(), budget, { now: () => start + this.#now })
    this.#schedule = this.#newSchedule()
  }

  get used(): number {
    return this.#meter.used
  }

  get unknown(): string[] {
    return [...this.#ids].filter((id) => !this.#known.has(id))
  }

  getOldest(ids: readonly string[]): number {
    return this.#now - Math.min(...ids.map((id) => this.#known.get(id) ?? -Infinity))
  }

  /** Schedules a function at a time (ms since the start). */
  runAt(time: number, run: () => void): void {
    this.#events.push({ runAt: time, run })
    this.#events.sort((a, b) => a.runAt - b.runAt)
  }

  add(ids: readonly string[]): void {
    for (const id of ids) this.#ids.add(id)
    this.#schedule.add(ids, this.#now)
    this.#addFault()
  }

  removeSome(): void {
    for (const id of [...this.#ids].slice(0, 7)) {
      this.#ids.delete(id)
      this.#known.delete(id)
      this.#schedule.remove(id)
    }
  }

  /** Ends the process and starts another one with the stored data. */
  restart(): void {
    this.#life++
    this.#pendingIds.clear()
    this.#schedule = this.#newSchedule()
    for (const [id, runAt] of [...this.#known].sort((a, b) => a[1] - b[1])) this.#schedule.addKnown(id, runAt)
    this.#schedule.resume(this.unknown, this.#now)
    this.#addFault()
  }

  run(time: number, faults: SimulatedFaults): void {
    const end = this.#now + time
    for (; this.#now < end;) {
      this.#beginCall(faults)
      const wake = Math.max(this.#now + 1, this.#schedule.getWakeAt(this.#now, this.#getRemainingQuota()))
      const event = this.#events[0]
      this.#now = Math.min(end, wake, event?.runAt ?? Infinity, this.#now + MINUTE_MS)
      while (this.#events[0] && this.#events[0].runAt <= this.#now) this.#events.shift()!.run()
      this.#check(faults)
    }
  }

  #newSchedule = () =>
    new Schedule({ idsPerCall: 50, connections: CONNECTIONS, minInterval: MIN_INTERVAL_MS }, this.#now)

  #getRemainingQuota = () => getRemainingQuota(this.#meter.budget, this.#meter.used, this.#begin + this.#now)

  #beginCall(faults: SimulatedFaults): void {
    for (let call; (call = this.#schedule.next(this.#now, this.#getRemainingQuota()));) this.#call(call, faults)
  }

  #call(call: ScheduledCall, faults: SimulatedFaults): void {
    const [runAt, life] = [this.#now, this.#life]
    void this.#meter.spend()
    const day = this.#meter.toUsage().day
    this.usedByDay.set(day, this.#meter.used)
    for (const id of call.ids) if (this.#pendingIds.size === this.#pendingIds.add(id).size) this.repeatedIds++
    const kind = faults.outages.find((one) => runAt >= one.from && runAt < one.from + one.for)?.kind
    const ok = !kind && this.#rollDice() >= faults.errorRate && !call.ids.some((id) => faults.poison.has(id))
    if (this.calls.push({ runAt, ids: call.ids.length, ok }) > MAX_CALLS) throw new Error('calls without end')
    this.runAt(runAt + (kind === 'hanging' ? TIMEOUT_MS : faults.latency), () => {
      if (kind === 'refused') this.#meter.refund()
      if (life !== this.#life) return
      for (const id of call.ids) this.#pendingIds.delete(id)
      if (ok) {
        for (const id of call.ids) if (this.#ids.has(id)) this.#known.set(id, runAt)
        this.#schedule.recordSuccess(call, runAt, this.#now)
      } else {
        this.#schedule.recordFailure(
          call,
          this.#now,
          this.#getRemainingQuota(),
          kind === 'failing' || !kind ? failing : unreachable,
        )
        if (kind) this.#addFault()
      }
    })
  }

  /** Records a fault: after it, all numbers must be fresh within a round. */
  #addFault(): void {
    this.#healthySince = this.#now
    this.#maxAge = 0
  }

  #checked = 0

  /** Checks that every number is as fresh as its share allows, if there was no fault for two rounds. */
  #check(faults: SimulatedFaults): void {
    const { left } = this.#getRemainingQuota()
    const inOutage = faults.outages.some(({ from, for: time }) => this.#now >= from && this.#now < from + time)
    if (
      faults.errorRate > 0 ||
      inOutage ||
      left < this.#schedule.calls ||
      getTimeUntilReset(this.#begin + this.#now) < MIN_INTERVAL_MS
    )
      this.#addFault()
    this.#maxAge = Math.max(this.#maxAge, this.#schedule.getInterval(this.#getRemainingQuota()))
    const round = 2 * this.#maxAge + MINUTE_MS
    if (this.#now - this.#healthySince < round || this.#now - this.#checked < 5 * MINUTE_MS) return
    this.#checked = this.#now
    for (const id of this.#ids) {
      if (faults.poison.has(id) || this.#now - (this.#known.get(id) ?? -Infinity) <= round) continue
      this.late.push(`${id} at ${this.#now}: ${this.#now - (this.#known.get(id) ?? -Infinity)} > ${round}`)
    }
  }

  /** Returns pseudo-random numbers, the same for the same seed (mulberry32). */
  #rollDice(): number {
    this.#random = (this.#random + 0x6d2b79f5) >>> 0
    let t = this.#random
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

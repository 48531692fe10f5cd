import type { UpstreamFault } from '../../src/core/circuit.ts'
import { allowance, untilReset } from '../../src/core/pace.ts'
import { Schedule, type Call } from '../../src/core/schedule.ts'
import { QuotaMeter } from '../../src/quota-meter.ts'

export interface Faults {
  /** Times since the start (ms) during which no call succeeds. */
  readonly outages: readonly { from: number; for: number; kind: string }[]
  /** This share of the calls fails. */
  readonly errorRate: number
  readonly latency: number
  /** A call that asks for one of these fails. */
  readonly poison: ReadonlySet<string>
}

const failing: UpstreamFault = { kind: 'server', detail: 'YouTube answered 500', remedy: '' }
const unreachable: UpstreamFault = { kind: 'network', detail: 'YouTube cannot be reached', remedy: '' }

const CONNECTIONS = 16
const FASTEST = 10_000
const TIMEOUT = 5_000
const MINUTE = 60_000
/** Who makes so many calls makes them without end: a day of the largest budget takes 12,000. */
const ENDLESS = 40_000

/** What a schedule does in hours of a clock that a test turns, with a YouTube whose faults are told. */
export class Simulation {
  /** Every call: when it was made (ms since the start), for how many ids, and whether it gave numbers. */
  readonly calls: { at: number; ids: number; ok: boolean }[] = []
  readonly usedByDay = new Map<string, number>()
  /** Ids that were asked for while they were being asked for. */
  askedTwice = 0
  /** Ids that were older than their share allows. */
  readonly late: string[] = []
  readonly #begin: number
  readonly #meter: QuotaMeter
  readonly #known = new Map<string, number>()
  readonly #ids = new Set<string>()
  readonly #asking = new Set<string>()
  #events: { at: number; run: () => void }[] = []
  #schedule: Schedule
  #life = 0
  #now = 0
  #random: number
  /** Since when nothing has hindered a refresh, and the longest interval since then. */
  #calmSince = 0
  #longest = 0

  constructor({ budget, start, seed = 1 }: { budget: number; start: number; seed?: number }) {
    this.#begin = start
    this.#random = seed >>> 0
    this.#meter = new QuotaMeter(QuotaMeter.memory(), budget, { now: () => start + this.#now })
    this.#schedule = this.#newSchedule()
  }

  get used(): number {
    return this.#meter.used
  }

  get unknown(): string[] {
    return [...this.#ids].filter((id) => !this.#known.has(id))
  }

  oldest(ids: readonly string[]): number {
    return this.#now - Math.min(...ids.map((id) => this.#known.get(id) ?? -Infinity))
  }

  /** Runs something at a time (ms since the start). */
  at(time: number, run: () => void): void {
    this.#events.push({ at: time, run })
    this.#events.sort((a, b) => a.at - b.at)
  }

  add(ids: readonly string[]): void {
    for (const id of ids) this.#ids.add(id)
    this.#schedule.want(ids, this.#now)
    this.#disturb()
  }

  removeSome(): void {
    for (const id of [...this.#ids].slice(0, 7)) {
      this.#ids.delete(id)
      this.#known.delete(id)
      this.#schedule.forget(id)
    }
  }

  /** The process ends and another begins with what was kept. */
  restart(): void {
    this.#life++
    this.#asking.clear()
    this.#schedule = this.#newSchedule()
    for (const [id, at] of [...this.#known].sort((a, b) => a[1] - b[1])) this.#schedule.known(id, at)
    this.#schedule.resume(this.unknown, this.#now)
    this.#disturb()
  }

  run(time: number, faults: Faults): void {
    const end = this.#now + time
    for (; this.#now < end;) {
      this.#begins(faults)
      const wake = Math.max(this.#now + 1, this.#schedule.wakeAt(this.#now, this.#allowance()))
      const event = this.#events[0]
      this.#now = Math.min(end, wake, event?.at ?? Infinity, this.#now + MINUTE)
      while (this.#events[0] && this.#events[0].at <= this.#now) this.#events.shift()!.run()
      this.#check(faults)
    }
  }

  #newSchedule = () => new Schedule({ idsPerCall: 50, connections: CONNECTIONS, fastest: FASTEST }, this.#now)

  #allowance = () => allowance(this.#meter.budget, this.#meter.used, this.#begin + this.#now)

  #begins(faults: Faults): void {
    for (let call; (call = this.#schedule.next(this.#now, this.#allowance()));) this.#call(call, faults)
  }

  #call(call: Call, faults: Faults): void {
    const [at, life] = [this.#now, this.#life]
    void this.#meter.spend()
    const day = this.#meter.toUsage().day
    this.usedByDay.set(day, this.#meter.used)
    for (const id of call.ids) if (this.#asking.size === this.#asking.add(id).size) this.askedTwice++
    const kind = faults.outages.find((one) => at >= one.from && at < one.from + one.for)?.kind
    const ok = !kind && this.#roll() >= faults.errorRate && !call.ids.some((id) => faults.poison.has(id))
    if (this.calls.push({ at, ids: call.ids.length, ok }) > ENDLESS) throw new Error('calls without end')
    this.at(at + (kind === 'hanging' ? TIMEOUT : faults.latency), () => {
      if (kind === 'refused') this.#meter.giveBack()
      if (life !== this.#life) return
      for (const id of call.ids) this.#asking.delete(id)
      if (ok) {
        for (const id of call.ids) if (this.#ids.has(id)) this.#known.set(id, at)
        this.#schedule.succeeded(call, at, this.#now)
      } else {
        this.#schedule.failed(call, this.#now, this.#allowance(), kind === 'failing' || !kind ? failing : unreachable)
        if (kind) this.#disturb()
      }
    })
  }

  /** From here on it takes a round until all numbers have to be fresh. */
  #disturb(): void {
    this.#calmSince = this.#now
    this.#longest = 0
  }

  #checked = 0

  /** Whether every number is as fresh as its share allows, where nothing has hindered that for two rounds. */
  #check(faults: Faults): void {
    const { left } = this.#allowance()
    const inOutage = faults.outages.some(({ from, for: time }) => this.#now >= from && this.#now < from + time)
    if (
      faults.errorRate > 0 ||
      inOutage ||
      left < this.#schedule.calls ||
      untilReset(this.#begin + this.#now) < FASTEST
    )
      this.#disturb()
    this.#longest = Math.max(this.#longest, this.#schedule.interval(this.#allowance()))
    const round = 2 * this.#longest + MINUTE
    if (this.#now - this.#calmSince < round || this.#now - this.#checked < 5 * MINUTE) return
    this.#checked = this.#now
    for (const id of this.#ids) {
      if (faults.poison.has(id) || this.#now - (this.#known.get(id) ?? -Infinity) <= round) continue
      this.late.push(`${id} at ${this.#now}: ${this.#now - (this.#known.get(id) ?? -Infinity)} > ${round}`)
    }
  }

  /** The same numbers for the same seed (mulberry32). */
  #roll(): number {
    this.#random = (this.#random + 0x6d2b79f5) >>> 0
    let t = this.#random
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

import { getRemainingQuota, type SideQuota } from '../../src/core/quota-budget.ts'
import { QuotaMeter } from '../../src/quota/quota-meter.ts'
import { Schedule } from '../../src/refresh/schedule.ts'
import { SideCalls, type SideCall } from '../../src/refresh/side/side-calls.ts'
import { videoIds } from './fake-youtube.ts'

const LATENCY_MS = 100
const MINUTE_MS = 60_000
const SCHEDULE_OPTIONS = { idsPerCall: 50, connections: 16, minInterval: 10_000 }

type SideKind = SideCall['kind']

/** Runs the schedule of the videos and that of the side calls on one budget and one simulated clock. */
export class SideSimulation {
  readonly usedByDay = new Map<string, number>()
  readonly sideUnitsByDay = new Map<string, number>()
  /** Longest time between two refreshes of a video (ms). */
  maxVideoGap = 0
  /** Number of ids that were read while a call with them was in flight. */
  doubleCalls = 0
  readonly #start: number
  readonly #meter: QuotaMeter
  readonly #errorRate: number
  #events: { at: number; run: () => void }[] = []
  #schedule: Schedule
  #side = new SideCalls()
  #now = 0
  #life = 0
  #random: number
  readonly #videos = new Map<string, number | undefined>()
  readonly #ids: Record<SideKind, Set<string>> = { channels: new Set(), playlistItems: new Set() }
  /** Times of all reads of each id. */
  readonly #reads = new Map<string, number[]>()
  readonly #calls: Record<SideKind, number> = { channels: 0, playlistItems: 0 }
  readonly #running = new Set<string>()

  constructor({
    budget,
    start,
    errorRate = 0,
    seed = 1,
  }: {
    budget: number
    start: number
    errorRate?: number
    seed?: number
  }) {
    this.#start = start
    this.#errorRate = errorRate
    this.#random = seed >>> 0
    this.#meter = new QuotaMeter(QuotaMeter.createMemory(), budget, { now: () => start + this.#now })
    this.#schedule = new Schedule(SCHEDULE_OPTIONS, 0)
  }

  get used(): number {
    return this.#meter.used
  }

  get usedByKind(): QuotaMeter['usedByKind'] {
    return this.#meter.usedByKind
  }

  countCalls = (kind: SideKind): number => this.#calls[kind]

  /** Returns the times between two reads of an id (ms). */
  getGaps = (kind: SideKind): number[] =>
    [...this.#ids[kind]].flatMap((id) => {
      const reads = this.#reads.get(id) ?? []
      return reads.slice(1).map((at, i) => at - reads[i]!)
    })

  getFirstReads = (kind: SideKind): number[] => [...this.#ids[kind]].map((id) => this.#reads.get(id)?.[0] ?? Infinity)

  runAt(at: number, run: () => void): void {
    this.#events.push({ at, run })
    this.#events.sort((a, b) => a.at - b.at)
  }

  addVideos(count: number): void {
    const ids = videoIds(count)
    for (const id of ids) this.#videos.set(id, undefined)
    this.#schedule.add(ids, this.#now)
  }

  addChannels(ids: readonly string[]): void {
    for (const id of ids) {
      this.#ids.channels.add(id)
      this.#side.addChannel(id, this.#now)
    }
  }

  addSources(ids: readonly string[]): void {
    for (const id of ids) {
      this.#ids.playlistItems.add(id)
      this.#side.addSource(id)
    }
  }

  /** Ends the process and starts another one with the stored times. */
  restart(): void {
    this.#life++
    this.#running.clear()
    this.#schedule = new Schedule(SCHEDULE_OPTIONS, this.#now)
    this.#schedule.load([...this.#videos], this.#now)
    this.#side = new SideCalls()
    for (const id of this.#ids.channels) this.#side.addChannel(id, this.#now, this.#reads.get(id)?.at(-1))
    for (const id of this.#ids.playlistItems) this.#side.addSource(id, this.#reads.get(id)?.at(-1))
  }

  run(time: number): void {
    const end = this.#now + time
    while (this.#now < end) {
      this.#beginCalls()
      const quota = this.#getQuota()
      const wake = Math.min(
        this.#schedule.getWakeAt(this.#now, this.#side.getVideoQuota(this.#now, quota)),
        this.#side.getWakeAt(this.#now, quota),
      )
      const event = this.#events[0]?.at ?? Infinity
      this.#now = Math.min(end, Math.max(this.#now + 1, wake), event, this.#now + MINUTE_MS)
      while (this.#events[0] && this.#events[0].at <= this.#now) this.#events.shift()!.run()
    }
  }

  #getQuota(): SideQuota {
    const { budget, used, usedByKind } = this.#meter
    const usedBySideCalls = usedByKind.channels + usedByKind.playlistItems
    return { ...getRemainingQuota(budget, used, this.#start + this.#now), usedBySideCalls }
  }

  #beginCalls(): void {
    for (let call; (call = this.#side.next(this.#now, this.#getQuota()));) this.#callSide(call)
    for (;;) {
      const call = this.#schedule.next(this.#now, this.#side.getVideoQuota(this.#now, this.#getQuota()))
      if (!call) return
      const [at, schedule] = [this.#now, this.#schedule]
      this.#spend('videos')
      this.runAt(at + LATENCY_MS, () => {
        for (const id of call.ids) {
          const before = this.#videos.get(id)
          if (before !== undefined) this.maxVideoGap = Math.max(this.maxVideoGap, at - before)
          this.#videos.set(id, at)
        }
        if (schedule === this.#schedule) schedule.recordSuccess(call, at, this.#now)
      })
    }
  }

  #callSide(call: SideCall): void {
    const [at, life, side] = [this.#now, this.#life, this.#side]
    this.#spend(call.kind)
    this.#calls[call.kind]++
    for (const id of call.ids) if (this.#running.size === this.#running.add(id).size) this.doubleCalls++
    const isFailing = this.#rollDice() < this.#errorRate
    this.runAt(at + LATENCY_MS, () => {
      if (life !== this.#life) return
      for (const id of call.ids) this.#running.delete(id)
      if (isFailing) return side.recordFailure(call, this.#now)
      for (const id of call.ids) this.#reads.set(id, [...(this.#reads.get(id) ?? []), at])
      side.recordRead(call, at)
    })
  }

  #spend(kind: 'videos' | SideKind): void {
    void this.#meter.spend(kind)
    const { day } = this.#meter.toUsage()
    this.usedByDay.set(day, this.#meter.used)
    const { channels, playlistItems } = this.#meter.usedByKind
    this.sideUnitsByDay.set(day, channels + playlistItems)
  }

  /** Returns pseudo-random numbers, the same for the same seed (a linear congruential generator). */
  #rollDice(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0
    return this.#random / 2 ** 32
  }
}

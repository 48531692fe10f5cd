import { LatencyHistogram } from '../common/tally.ts'

/** A value that was sent: which of its publisher's, by whom, and when it was due (us since the start). */
interface SentValue {
  readonly publisher: number
  readonly nth: number
  readonly due: number
  accepted: boolean
}

/**
 * What was sent, and what of it each stream received. A publisher's values are sent one after the other's reply, so
 * they must arrive in that order; between publishers the server chooses an order, the same for all streams.
 * The usual case costs two array reads and a record in a histogram.
 */
export class FleetLedger {
  readonly delivery = new LatencyHistogram()
  /** Values that the server said it took. */
  accepted = 0
  deliveries = 0
  doubled = 0
  wrong = 0
  /** Values whose publisher sent a later one that came first. */
  late = 0
  readonly #publishers: number
  readonly #sent: SentValue[] = []
  /** The sequences of each publisher, in order. */
  readonly #of: number[][]
  /** For each stream and publisher: how many of its values have come, those that were passed over included. */
  readonly #next: Int32Array
  /** For each stream that needs one: what was passed over. */
  readonly #missing: (Set<number> | undefined)[]
  /** For each stream: a hash of the order of what came. */
  readonly #order: Int32Array
  readonly #open = new Set<number>()
  /** What times count from (ms of `performance.now()`). */
  readonly #origin: number
  /** Since then (us). */
  #now = 0
  #timedFrom = 0

  constructor(streams: number, publishers: number) {
    this.#origin = performance.now()
    this.#publishers = publishers
    this.#of = Array.from({ length: publishers }, () => [])
    this.#next = new Int32Array(streams * publishers)
    this.#missing = Array.from({ length: streams })
    this.#order = new Int32Array(streams)
  }

  get values(): number {
    return this.#sent.length
  }

  /** The server has said that the stream is open: from here on it must receive every value. */
  open(stream: number): void {
    this.#open.add(stream)
  }

  /** Values due before then (ms of `performance.now()`) are not timed. */
  startTiming(moment: number): void {
    this.#timedFrom = this.#toMicros(moment)
  }

  /** A publisher sends its next value. @param due milliseconds of `performance.now()` @returns the value */
  send(publisher: number, due: number): { readonly sequence: number; readonly text: string; readonly timed: boolean } {
    const own = this.#of[publisher]!
    const sequence = this.#sent.length
    const toMicros = this.#toMicros(due)
    this.#sent.push({ publisher, nth: own.length, due: toMicros, accepted: false })
    own.push(sequence)
    return { sequence, text: `${sequence}.${toMicros}`, timed: toMicros >= this.#timedFrom }
  }

  /** The server has said that it took the value: now every stream must receive it. */
  accept(sequence: number): void {
    this.#sent[sequence]!.accepted = true
    this.accepted++
  }

  /** What is received from here on was read at that moment (ms of `performance.now()`): one look at the clock a read. */
  readAt(moment: number): void {
    this.#now = (moment - this.#origin) * 1000
  }

  /** A stream received a value. */
  receive(stream: number, sequence: number, due: number): void {
    const value = this.#sent[sequence]
    if (value === undefined || value.due !== due) {
      this.wrong++
      return
    }
    const slot = stream * this.#publishers + value.publisher
    if (value.nth === this.#next[slot]) this.#next[slot]!++
    else if (!this.#receiveOutOfOrder(stream, slot, sequence, value)) return
    this.#order[stream] = (Math.imul(this.#order[stream]!, 31) + sequence) | 0
    this.deliveries++
    if (due >= this.#timedFrom) this.delivery.record((this.#now - due) / 1000)
  }

  /** @returns whether the stream had not received it before */
  #receiveOutOfOrder(stream: number, slot: number, sequence: number, { publisher, nth }: SentValue): boolean {
    const next = this.#next[slot]!
    if (nth < next) {
      if (this.#missing[stream]?.delete(sequence)) {
        this.late++
        return true
      }
      this.doubled++
      return false
    }
    const missing = (this.#missing[stream] ??= new Set())
    for (let i = next; i < nth; i++) missing.add(this.#of[publisher]![i]!)
    this.#next[slot] = nth + 1
    return true
  }

  /** Accepted values that an open stream has not received, one for each such stream. */
  get lost(): number {
    const isLost = (sequence: number) => this.#sent[sequence]!.accepted
    let lost = 0
    for (const stream of this.#open) {
      for (const [publisher, own] of this.#of.entries()) {
        lost += own.slice(this.#next[stream * this.#publishers + publisher]).filter(isLost).length
      }
      for (const sequence of this.#missing[stream] ?? []) if (isLost(sequence)) lost++
    }
    return lost
  }

  /** Streams whose order is not that of most others. To be asked where nothing was lost or doubled. */
  get strayed(): number {
    const counts = new Map<number, number>()
    for (const stream of this.#open) {
      const order = this.#order[stream]!
      counts.set(order, (counts.get(order) ?? 0) + 1)
    }
    return this.#open.size - Math.max(0, ...counts.values())
  }

  #toMicros(moment: number): number {
    return Math.round((moment - this.#origin) * 1000)
  }
}

import { LatencyHistogram } from '../common/tally.ts'

/** A sent value: its publisher, its number there, and its due time (us since the start). */
interface SentValue {
  readonly publisher: number
  readonly nth: number
  readonly due: number
  accepted: boolean
}

/**
 * Records the sent values, and which of them each stream received. A publisher sends a value after the reply to the one
 * before, so its values must arrive in that order. Between publishers the server chooses an order, equal for all
 * streams. The usual case costs two array reads and a record in a histogram.
 */
export class FleetLedger {
  readonly delivery = new LatencyHistogram()
  /** Values that the server acknowledged. */
  accepted = 0
  deliveries = 0
  doubled = 0
  wrong = 0
  /** Values that arrived after a later value of the same publisher. */
  late = 0
  readonly #publishers: number
  readonly #sent: SentValue[] = []
  /** The sequences of each publisher, in order. */
  readonly #of: number[][]
  /** For each stream and publisher: the number of received values, including those that were skipped. */
  readonly #next: Int32Array
  /** For each stream that needs it: the skipped values. */
  readonly #missing: (Set<number> | undefined)[]
  /** For each stream: a hash of the order of its values. */
  readonly #order: Int32Array
  readonly #open = new Set<number>()
  /** Origin of times (ms of `performance.now()`). */
  readonly #origin: number
  /** Time since the origin (us). */
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

  /** The server confirmed that the stream is open: from now on it must receive every value. */
  open(stream: number): void {
    this.#open.add(stream)
  }

  /** Values due before `moment` (ms of `performance.now()`) are not timed. */
  startTiming(moment: number): void {
    this.#timedFrom = this.#toMicros(moment)
  }

  /**
   * Records that a publisher sends its next value.
   * @param due milliseconds of `performance.now()`
   * @returns the value
   */
  send(publisher: number, due: number): { readonly sequence: number; readonly text: string; readonly timed: boolean } {
    const own = this.#of[publisher]!
    const sequence = this.#sent.length
    const toMicros = this.#toMicros(due)
    this.#sent.push({ publisher, nth: own.length, due: toMicros, accepted: false })
    own.push(sequence)
    return { sequence, text: `${sequence}.${toMicros}`, timed: toMicros >= this.#timedFrom }
  }

  /** The server acknowledged the value: now every stream must receive it. */
  accept(sequence: number): void {
    this.#sent[sequence]!.accepted = true
    this.accepted++
  }

  /** Sets the time of the values that follow (ms of `performance.now()`): one clock read for each socket read. */
  readAt(moment: number): void {
    this.#now = (moment - this.#origin) * 1000
  }

  /** Records that a stream received a value. */
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

  /** @returns true if the stream had not received it before */
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

  /** Number of accepted values that an open stream has not received, counted for each such stream. */
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

  /** Number of streams whose order differs from the majority. Meaningful only if no value was lost or doubled. */
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

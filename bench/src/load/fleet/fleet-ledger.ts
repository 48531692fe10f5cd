import { LatencyHistogram } from '../common/tally.ts'

/** A sent value: its publisher, its number among the values of the publisher, and its due time (us since the start). */
interface SentValue {
  readonly publisher: number
  readonly nth: number
  readonly due: number
  accepted: boolean
}

/**
 * Records the sent values, and the values that each stream received. A publisher sends a value after the reply to its
 * previous value, so its values must arrive in that order. The server chooses the order of values of different
 * publishers, which must be equal for all streams. The usual case costs two array reads and a record in a histogram.
 */
export class FleetLedger {
  /** Times from the due time of a value to its arrival. */
  readonly delivery = new LatencyHistogram()
  /** Values that the server acknowledged. */
  accepted = 0
  /** Values received by streams, values received twice, and events with unexpected values. */
  deliveries = 0
  doubled = 0
  wrong = 0
  /** Values that arrived after a later value of the same publisher. */
  late = 0
  readonly #publishers: number
  readonly #sent: SentValue[] = []
  /** The sequences of the values of each publisher, in order. */
  readonly #sequencesByPublisher: number[][]
  /** For each stream and publisher: the expected number of the next value. */
  readonly #next: Int32Array
  /** For each stream: the sequences of values that were skipped; undefined if there are none. */
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
    this.#sequencesByPublisher = Array.from({ length: publishers }, () => [])
    this.#next = new Int32Array(streams * publishers)
    this.#missing = Array.from({ length: streams })
    this.#order = new Int32Array(streams)
  }

  get values(): number {
    return this.#sent.length
  }

  /** Records that the server confirmed that a stream is open. From now on the stream must receive every value. */
  open(stream: number): void {
    this.#open.add(stream)
  }

  /** Starts the timing: earlier values are not timed. @param moment milliseconds of `performance.now()` */
  startTiming(moment: number): void {
    this.#timedFrom = this.#toMicros(moment)
  }

  /**
   * Records that a publisher sends its next value.
   * @param due milliseconds of `performance.now()`
   * @returns the value
   */
  send(publisher: number, due: number): { readonly sequence: number; readonly text: string; readonly timed: boolean } {
    const own = this.#sequencesByPublisher[publisher]!
    const sequence = this.#sent.length
    const dueMicros = this.#toMicros(due)
    this.#sent.push({ publisher, nth: own.length, due: dueMicros, accepted: false })
    own.push(sequence)
    return { sequence, text: `${sequence}.${dueMicros}`, timed: dueMicros >= this.#timedFrom }
  }

  /** Records that the server acknowledged a value. Every open stream must receive it. */
  accept(sequence: number): void {
    this.#sent[sequence]!.accepted = true
    this.accepted++
  }

  /** Sets the arrival time of the next values (ms of `performance.now()`): one clock read per socket read. */
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

  /** Handles a value that is not the expected one. @returns true if the stream receives the value for the first time */
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
    for (let i = next; i < nth; i++) missing.add(this.#sequencesByPublisher[publisher]![i]!)
    this.#next[slot] = nth + 1
    return true
  }

  /** Number of accepted values that an open stream has not received, summed over all streams. */
  get lost(): number {
    const isLost = (sequence: number) => this.#sent[sequence]!.accepted
    let lost = 0
    for (const stream of this.#open) {
      for (const [publisher, own] of this.#sequencesByPublisher.entries()) {
        lost += own.slice(this.#next[stream * this.#publishers + publisher]).filter(isLost).length
      }
      for (const sequence of this.#missing[stream] ?? []) if (isLost(sequence)) lost++
    }
    return lost
  }

  /** Number of streams whose order differs from the majority. Meaningful only if no value was lost or doubled. */
  get differentOrders(): number {
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

import type { FleetLedger } from './ledger.ts'
import { pace } from './pace.ts'
import { RawConnection, type Target } from '../raw/connection.ts'
import type { Loop } from '../raw/loop.ts'
import { readyRequest } from '../requests/request-bytes.ts'
import { REJECTED_AFTER, type Dialect, type FleetPlan, type Paced } from '../sse-fleet.ts'
import { Microseconds } from '../common/tally.ts'

/** What the replies to values came to. */
export class Replies {
  readonly times = new Microseconds()
  timed = 0
  /** Of the times (ms). */
  sum = 0
  /** Answered 200 within a second. */
  inTime = 0
  wrong = 0
}

/** A connection that carries values, one at a time, and when they are sent. */
class Publisher implements Loop {
  readonly connection: RawConnection
  readonly #fleet: Publishers
  readonly #index: number
  #value: ReturnType<FleetLedger['send']> | undefined
  #accepted = false

  constructor(fleet: Publishers, index: number) {
    this.#fleet = fleet
    this.#index = index
    const { host, port, dialect } = fleet
    const check: Target['check'] = (status, body) => {
      this.#accepted = status === 200
      return !this.#accepted || !dialect.echoes || body.toString() === this.#value?.text
    }
    this.connection = new RawConnection({ host, port, check, readsBodies: dialect.echoes }, this)
  }

  /** @param due milliseconds of `performance.now()` */
  send(due: number): void {
    const { ledger, dialect, authority } = this.#fleet
    this.#value = ledger.send(this.#index, due)
    this.#accepted = false
    const { text } = this.#value
    const filled = (part: string) => part.replace('{value}', text)
    const body = dialect.body === undefined ? {} : { body: filled(dialect.body) }
    const request = { method: dialect.method, path: filled(dialect.put), ...body }
    this.connection.send(readyRequest(authority, request), due)
  }

  answered(begin: number, now: number, right: boolean): void {
    const { replies, ledger } = this.#fleet
    const { sequence, timed } = this.#value!
    const took = now - begin
    if (timed) {
      replies.timed++
      replies.sum += took
      replies.times.record(took)
    }
    if (!right) replies.wrong++
    if (!this.#accepted) return
    ledger.accept(sequence)
    if (took <= REJECTED_AFTER) replies.inTime++
  }

  idle(_connection: RawConnection, now: number): void {
    this.#fleet.idle(this, now)
  }

  // The rest is for loops over a fixed set of requests: a value without a reply is one that was not accepted.
  lost(): void {}
  failed(): void {}
  start(): void {}
  abandon(): void {}
  outstanding(): number {
    return this.connection.waitingSince === undefined ? 0 : 1
  }
}

/** The publishers of a fleet. */
export class Publishers {
  readonly replies = new Replies()
  /** How late this process saw that values were due: its own part of their times, whatever the server did. */
  readonly lateness = new Microseconds()
  readonly host: string
  readonly port: number
  readonly authority: string
  readonly dialect: Dialect
  readonly ledger: FleetLedger
  readonly #all: Publisher[]
  readonly #free: Publisher[] = []
  /** Values that are due and wait for a publisher. */
  readonly #due: number[] = []
  /** Until when (ms) each sends as soon as it is free. */
  #until = -Infinity

  constructor(plan: FleetPlan, ledger: FleetLedger) {
    const { hostname, port, host } = new URL(plan.url)
    this.host = hostname
    this.port = Number(port)
    this.authority = host
    this.dialect = plan.dialect
    this.ledger = ledger
    this.#all = Array.from({ length: plan.publishers }, (_, index) => new Publisher(this, index))
  }

  /** Resolves when each has tried to connect. */
  async ready(): Promise<void> {
    await Promise.all(this.#all.map(({ connection }) => connection.tried))
  }

  /** A publisher can send. */
  idle(publisher: Publisher, now: number): void {
    const due = this.#due.shift()
    if (due !== undefined) publisher.send(due)
    else if (now < this.#until) publisher.send(now)
    else if (!this.#free.includes(publisher)) this.#free.push(publisher)
  }

  /** Sends values at their times; one that finds no publisher free waits for one. */
  async paced({ values, interval }: Paced): Promise<void> {
    await pace(values, interval, performance.now(), (_, due) => {
      this.lateness.record(performance.now() - due)
      this.#due.push(due)
      this.#sendDue()
    })
  }

  /** Each publisher sends whenever it is free. */
  saturate(until: number): void {
    this.#until = until
    for (const publisher of this.#free.splice(0)) if (publisher.connection.idle) publisher.send(performance.now())
  }

  /** Values that are due or on their way, and have no reply. */
  get outstanding(): number {
    return this.#due.length + this.#all.reduce((sum, publisher) => sum + publisher.outstanding(), 0)
  }

  close(): void {
    for (const { connection } of this.#all) connection.close()
  }

  /** The one freed last: where the server keeps up it is always the same, which proves the order most strictly. */
  #sendDue(): void {
    while (this.#due.length > 0) {
      const publisher = this.#free.pop()
      if (!publisher) return
      // One that was cut comes back by itself.
      if (publisher.connection.idle) publisher.send(this.#due.shift()!)
    }
  }
}

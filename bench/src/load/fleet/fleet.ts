import type { FleetLedger } from './ledger.ts'
import { localAddressOf } from './limits.ts'
import { FleetStream, type StreamEvents } from './stream.ts'
import { pace } from './pace.ts'
import { readyRequest } from '../requests/request-bytes.ts'
import type { FleetPlan } from '../sse-fleet.ts'

type Plan = Pick<FleetPlan, 'url' | 'dialect' | 'streams' | 'spacing'>

/** Streams that may be connecting at once: fewer than servers keep waiting (511 in Node), else packets are dropped. */
const CONNECTING = 256

/** The open streams. */
export class Fleet {
  opened = 0
  /** Ended before they were opened, before they were told to, and as they were told. */
  refused = 0
  cut = 0
  ended = 0
  /** Set when the server is told to end them. */
  closing = false
  /** When the last one was opened (ms of `performance.now()`). */
  lastOpened = NaN
  readonly #plan: Plan
  readonly #url: URL
  readonly #ledger: FleetLedger
  readonly #streams: FleetStream[] = []
  readonly #due: number[] = []
  #connecting = 0

  constructor(plan: Plan, ledger: FleetLedger) {
    this.#plan = plan
    this.#url = new URL(plan.url)
    this.#ledger = ledger
  }

  /** Asks for all streams, in their pace. */
  async open(): Promise<void> {
    const { streams, spacing } = this.#plan
    await pace(streams, spacing, performance.now(), (index) => {
      this.#due.push(index)
      this.#openDue()
    })
  }

  /** Streams that came to something: opened or refused. */
  get tried(): number {
    return this.opened + this.refused
  }

  /** Streams that are open and stay so until they are told. */
  get steady(): number {
    return this.opened - this.cut
  }

  destroy(): void {
    for (const stream of this.#streams) stream.destroy()
  }

  #openDue(): void {
    while (this.#connecting < CONNECTING) {
      const index = this.#due.shift()
      if (index === undefined) return
      this.#connecting++
      this.#streams.push(this.#stream(index))
    }
  }

  #stream(index: number): FleetStream {
    const { dialect, streams } = this.#plan
    const { hostname, port, host } = this.#url
    const path = dialect.wait.replace('{cid}', String(index))
    const request = readyRequest(host, { method: 'GET', path, headers: { accept: 'text/event-stream' } }).bytes
    const localAddress = localAddressOf(index, streams, hostname)
    const target = { host: hostname, port: Number(port), request, localAddress, around: dialect.around }
    return new FleetStream(index, target, this.#ledger, this.#events)
  }

  readonly #events: StreamEvents = {
    opened: () => {
      this.opened++
      this.lastOpened = performance.now()
      this.#tried()
    },
    closed: (opened, well) => {
      if (!opened) {
        this.refused++
        this.#tried()
      } else if (!this.closing) this.cut++
      else if (well) this.ended++
    },
  }

  #tried(): void {
    this.#connecting--
    this.#openDue()
  }
}

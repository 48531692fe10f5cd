import { connect, type Socket } from 'node:net'
import { runAtPace } from '../common/pace.ts'
import { prepareRequest } from '../requests/request-bytes.ts'
import type { FleetLedger } from './fleet-ledger.ts'
import { getLocalAddress, MAX_CONNECTING } from './open-files.ts'
import type { FleetPlan } from './fleet-plan.ts'
import { StreamScanner } from './stream-scanner.ts'

type StreamsPlan = Pick<FleetPlan, 'url' | 'dialect' | 'streams' | 'spacing'>

/** Buffer of all reads. Each read is parsed before the next one, so reads allocate no memory. */
const readBuffer = Buffer.allocUnsafeSlow(65_536)

/** The streams of a fleet. Each stream records the values that it receives in the ledger. */
export class FleetStreams {
  opened = 0
  /** Numbers of streams that ended before they opened, after that but before `closing`, and cleanly after `closing`. */
  refused = 0
  cut = 0
  ended = 0
  /** True once the end of all streams was requested from the server. */
  closing = false
  /** Time at which the last stream opened (ms of `performance.now()`). */
  lastOpened = NaN
  readonly #plan: StreamsPlan
  readonly #ledger: FleetLedger
  readonly #sockets: Socket[] = []
  /** Numbers of streams that must be opened now. */
  readonly #due: number[] = []
  #connecting = 0

  constructor(plan: StreamsPlan, ledger: FleetLedger) {
    this.#plan = plan
    this.#ledger = ledger
  }

  /** Begins to open all streams, one every `spacing` ms. */
  async open(): Promise<void> {
    const { streams, spacing } = this.#plan
    await runAtPace(streams, spacing, performance.now(), (index) => {
      this.#due.push(index)
      this.#openDue()
    })
  }

  /** Number of streams that were opened or refused. */
  get tried(): number {
    return this.opened + this.refused
  }

  /** Number of streams that opened and were not cut. */
  get steady(): number {
    return this.opened - this.cut
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #openDue(): void {
    for (; this.#connecting < MAX_CONNECTING && this.#due.length > 0; this.#connecting++)
      this.#connect(this.#due.shift()!)
  }

  #onTried(): void {
    this.#connecting--
    this.#openDue()
  }

  #connect(index: number): void {
    const { dialect, streams, url } = this.#plan
    const { hostname, port, host } = new URL(url)
    const ledger = this.#ledger
    let isGreeted = !dialect.greets
    const sink = {
      value: (sequence: number, due: number) => ledger.receive(index, sequence, due),
      wrong: () => {
        if (isGreeted && !(dialect.greets && this.closing)) ledger.wrong++
        isGreeted = true
      },
    }
    const scanner = new StreamScanner(sink, dialect.around)
    let isOpen = false
    const callback = (length: number): true => {
      ledger.readAt(performance.now())
      const state = scanner.feed(readBuffer.subarray(0, length))
      if (state === 'open' && isGreeted && !isOpen) {
        isOpen = true
        this.opened++
        this.lastOpened = performance.now()
        ledger.open(index)
        this.#onTried()
      }
      if (state === 'ended' || state === 'broken') socket.destroy()
      return true
    }
    const localAddress = getLocalAddress(index, streams, hostname)
    const onread = { buffer: readBuffer, callback }
    const socket = connect({ host: hostname, port: Number(port), localAddress, noDelay: true, onread })
    this.#sockets.push(socket)
    const { method, path, headers } = dialect.wait
    const own = { path: path.replaceAll('{cid}', String(index)), headers: { accept: 'text/event-stream', ...headers } }
    socket.write(prepareRequest(host, { method, ...own }).bytes)
    socket.on('end', () => scanner.end())
    // 'close' follows every error, and handles every end of the connection.
    socket.on('error', () => {})
    socket.on('close', () => {
      if (!isOpen) {
        this.refused++
        this.#onTried()
      } else if (!this.closing) this.cut++
      else if (scanner.state === 'ended') this.ended++
    })
  }
}

import { connect, type Socket } from 'node:net'
import type { ValueSink } from './event-scanner.ts'
import type { FleetLedger } from './ledger.ts'
import { StreamScanner } from './stream-scanner.ts'

/** What a stream tells. Each is called once at most. */
export interface StreamEvents {
  /** Its head is right. */
  opened(): void
  /** It ended: well, as a whole reply does, or in any other way. */
  closed(opened: boolean, well: boolean): void
}

export interface StreamTarget {
  readonly host: string
  readonly port: number
  readonly request: Buffer
  /** The loopback address to connect from; any where it is absent. */
  readonly localAddress?: string
  readonly around: readonly [string, string]
}

/** All streams read into the same memory: what came is looked at before the next read, and nothing is allocated. */
const shared = Buffer.allocUnsafeSlow(65_536)

/** A stream of a fleet: what it receives goes into the ledger under its number. */
export class FleetStream implements ValueSink {
  readonly #number: number
  readonly #ledger: FleetLedger
  readonly #events: StreamEvents
  readonly #scanner: StreamScanner
  readonly #socket: Socket
  #opened = false

  constructor(number: number, target: StreamTarget, ledger: FleetLedger, events: StreamEvents) {
    const { host, port, request, localAddress, around } = target
    this.#number = number
    this.#ledger = ledger
    this.#events = events
    this.#scanner = new StreamScanner(this, around)
    const onread = { buffer: shared, callback: (length: number) => this.#read(length) }
    const socket = connect({ host, port, localAddress, noDelay: true, onread })
    this.#socket = socket
    socket.write(request)
    socket.on('end', () => this.#scanner.end())
    // 'close' follows every error and is where all ends are dealt with.
    socket.on('error', () => {})
    socket.on('close', () => events.closed(this.#opened, this.#scanner.state === 'ended'))
  }

  value(sequence: number, due: number): void {
    this.#ledger.receive(this.#number, sequence, due)
  }

  wrong(): void {
    this.#ledger.wrong++
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #read(length: number): true {
    this.#ledger.readAt(performance.now())
    const state = this.#scanner.feed(shared, length)
    if (state === 'open' && !this.#opened) {
      this.#opened = true
      this.#ledger.open(this.#number)
      this.#events.opened()
    }
    if (state === 'ended' || state === 'broken') this.#socket.destroy()
    return true
  }
}

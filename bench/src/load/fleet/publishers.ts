import { ClosedLoop, OpenLoop } from '../raw/loops.ts'
import { RawConnection } from '../raw/raw-connection.ts'
import { createDrawnRequest, prepareRequest, type ReadyRequest } from '../requests/request-bytes.ts'
import type { FleetLedger } from './fleet-ledger.ts'
import { REJECTION_TIMEOUT_MS, type FleetPlan } from './fleet-plan.ts'

/** Connections that send values, with one outstanding request each. */
export class Publishers {
  readonly connections: readonly RawConnection[]
  readonly loop: ClosedLoop | OpenLoop
  /** Number of values accepted within a second. */
  inTime = 0
  /** Number of wrong replies. */
  wrong = 0
  readonly #numbers: ReadonlyMap<RawConnection, number>
  readonly #plan: FleetPlan
  readonly #ledger: FleetLedger

  constructor(plan: FleetPlan, ledger: FleetLedger) {
    this.#plan = plan
    this.#ledger = ledger
    const { sending, dialect, url, publishers } = plan
    const draw = this.#draw.bind(this)
    // An open loop uses the connection that was freed last. If the server is fast enough, this is always the same
    // connection, whose values have one order: the strictest check.
    this.loop =
      'seconds' in sending ? new ClosedLoop(draw) : new OpenLoop(draw, 1000 / sending.interval, { first: 'freed last' })
    const { hostname, port } = new URL(url)
    const target = { host: hostname, port: Number(port), check: () => true, readsBodies: dialect.echoes }
    this.connections = Array.from({ length: publishers }, () => new RawConnection(target, this.loop))
    this.#numbers = new Map(this.connections.map((connection, i) => [connection, i]))
  }

  /** Returns the request for the next value of a publisher. A value without a reply counts as not accepted. */
  #draw(connection: RawConnection, due: number): ReadyRequest {
    const { url, dialect } = this.#plan
    const { sequence, text } = this.#ledger.send(this.#numbers.get(connection)!, due)
    const topic = String(sequence % (dialect.topics ?? 1))
    const fillTemplate = (part: string) => part.replace('{value}', text).replace('{topic}', topic)
    const { path, body } = dialect.put
    const put = { ...dialect.put, path: fillTemplate(path), ...(body !== undefined && { body: fillTemplate(body) }) }
    return createDrawnRequest(prepareRequest(new URL(url).host, put).bytes, (reply, status) => {
      // nchan accepts with 201.
      if (status === undefined || status < 200 || status > 299) return true
      this.#ledger.accept(sequence)
      if (performance.now() - due <= REJECTION_TIMEOUT_MS) this.inTime++
      const right = !dialect.echoes || reply.toString() === text
      if (!right) this.wrong++
      return right
    })
  }
}

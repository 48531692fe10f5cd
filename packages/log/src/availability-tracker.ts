import type { StartError } from '@influencer-stats/runtime/errors'
import { UNAVAILABLE_CODES, type LogAvailability, type UnavailableCode } from './availability.ts'
import type { JetStreamLogOptions } from './jetstream/options.ts'

/** Tracks the availability of the log, and logs each change of its code. */
export class AvailabilityTracker {
  readonly #options: Pick<JetStreamLogOptions, 'service' | 'log'>
  #current: LogAvailability = createFault('LOG_UNREACHABLE', 'the log is not open yet')
  #hasFailed = false

  constructor(options: Pick<JetStreamLogOptions, 'service' | 'log'>) {
    this.#options = options
  }

  get current(): LogAvailability {
    return this.#current
  }

  /** Code of the outage; undefined if the log is available. */
  get code(): UnavailableCode | undefined {
    return this.#current.code === 'READY' ? undefined : this.#current.code
  }

  /** @param isLogged true if an end of an outage is logged */
  setReady(isLogged: boolean): void {
    const { service, log } = this.#options
    if (isLogged && this.#current.code !== 'READY') log.info(`${service}: the log is available again`)
    this.#current = { code: 'READY' }
  }

  /** @param isEmpty true if this node has no state */
  setFault({ code, message }: StartError, isEmpty: boolean): void {
    const { service, log } = this.#options
    const known = UNAVAILABLE_CODES.find((one) => one === code) ?? 'LOG_UNREACHABLE'
    const detail = message.replace(`${service}: `, '')
    const isSame = this.#hasFailed && this.#current.code === known
    this.#hasFailed = true
    this.#current = createFault(known, detail, this.#current)
    if (isSame) return
    const reads = isEmpty ? 'this node has no data yet' : 'this node serves reads'
    log.error(`${service}: the log is unavailable (${known}): ${detail}; ${reads}, and retries`)
  }
}

/** @param previous availability before; an outage continues with another code */
function createFault(code: UnavailableCode, detail: string, previous?: LogAvailability): LogAvailability {
  const since = previous && previous.code !== 'READY' ? previous.since : new Date().toISOString()
  return { code, detail, since }
}

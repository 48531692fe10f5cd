import type { WriteFault } from '@influencer-stats/runtime/write-readiness'
import { SharedJson } from './status/shared-json.ts'

/** Reasons why a node of a cluster cannot use its log. */
export const UNAVAILABLE_CODES = [
  'NATS_UNREACHABLE',
  'NATS_FORBIDDEN',
  'NATS_FILE_UNREADABLE',
  'JETSTREAM_OFF',
  'LOG_UNREACHABLE',
  'LOG_REPLICAS',
  'LOG_LIMITS',
  'LOG_LOST',
  'LOG_TRIMMED',
  'LOG_FORMAT_UNKNOWN',
  'LOG_DAMAGED',
  'LOG_FOREIGN',
  'CLUSTER_MISMATCH',
] as const

export type UnavailableCode = (typeof UNAVAILABLE_CODES)[number]

/** Availability of the log for the writes of this node. Without the log, a node serves reads from its state. */
export type LogAvailability =
  | { readonly code: 'READY' }
  | {
      readonly code: UnavailableCode
      /** One sentence for operators. It contains no secret. */
      readonly detail: string
      /** Start of the outage (ISO 8601). */
      readonly since: string
    }

const EMPTY_BYTES = BigInt64Array.BYTES_PER_ELEMENT
const SLOT_BYTES = 1_024
const MAX_DETAIL_LENGTH = 200

/** Size of the availability in shared memory (bytes). */
export const AVAILABILITY_BYTES = EMPTY_BYTES + SharedJson.getSize(SLOT_BYTES)

/** Availability of a log in shared memory, from an offset (bytes; a multiple of 8). */
export class SharedAvailability {
  readonly #empty: BigInt64Array
  readonly #fault: SharedJson<WriteFault>

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#empty = new BigInt64Array(memory, offset, 1)
    this.#fault = new SharedJson(memory, offset + EMPTY_BYTES, SLOT_BYTES)
  }

  /** Undefined if the log is available. */
  read(): WriteFault | undefined {
    return this.#fault.read()
  }

  /** Main thread only. */
  write(availability: LogAvailability): void {
    this.#fault.write(
      availability.code === 'READY'
        ? undefined
        : { ...availability, detail: availability.detail.slice(0, MAX_DETAIL_LENGTH) },
    )
  }

  /** True if this node has no state, and has never opened its log. Reads are then refused. */
  get isEmpty(): boolean {
    return Atomics.load(this.#empty, 0) !== 0n
  }

  /** Main thread only. */
  set isEmpty(isEmpty: boolean) {
    Atomics.store(this.#empty, 0, isEmpty ? 1n : 0n)
    Atomics.notify(this.#empty, 0)
  }

  /** Resolves once this node has state. */
  async waitUntilNotEmpty(): Promise<void> {
    while (this.isEmpty) await Atomics.waitAsync(this.#empty, 0, 1n).value
  }
}

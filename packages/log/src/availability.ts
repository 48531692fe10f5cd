import type { WriteFault } from '@influencer-stats/runtime/write-readiness'

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

// The main thread publishes the availability to the other threads in shared memory: the number of the last change, a
// flag, and two slots with JSON. A change is written to the slot that no thread reads.
const CHANGE_INDEX = 0
const EMPTY_INDEX = 1
const SLOTS_OFFSET = 2 * BigInt64Array.BYTES_PER_ELEMENT
const SLOT_BYTES = 1_024
const MAX_DETAIL_LENGTH = 200

/** Size of the availability in shared memory (bytes). */
export const AVAILABILITY_BYTES = SLOTS_OFFSET + 2 * SLOT_BYTES

/** Availability of a log in shared memory, from an offset (bytes; a multiple of 8). */
export class SharedAvailability {
  readonly #words: BigInt64Array
  readonly #bytes: Buffer

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#words = new BigInt64Array(memory, offset, 2)
    this.#bytes = Buffer.from(memory, offset + SLOTS_OFFSET, 2 * SLOT_BYTES)
  }

  /** Undefined if the log is available. */
  read(): WriteFault | undefined {
    const change = Number(Atomics.load(this.#words, CHANGE_INDEX))
    if (change === 0) return undefined
    const at = (change % 2) * SLOT_BYTES
    const length = this.#bytes.readUInt16BE(at)
    return length === 0 ? undefined : JSON.parse(this.#bytes.toString('utf8', at + 2, at + 2 + length))
  }

  /** Main thread only. */
  write(availability: LogAvailability): void {
    const change = Number(Atomics.load(this.#words, CHANGE_INDEX)) + 1
    const at = (change % 2) * SLOT_BYTES
    const text =
      availability.code === 'READY'
        ? ''
        : JSON.stringify({ ...availability, detail: availability.detail.slice(0, MAX_DETAIL_LENGTH) })
    this.#bytes.writeUInt16BE(this.#bytes.write(text, at + 2, SLOT_BYTES - 2), at)
    Atomics.store(this.#words, CHANGE_INDEX, BigInt(change))
  }

  /** True if this node has no state, and has never opened its log. Reads are then refused. */
  get isEmpty(): boolean {
    return Atomics.load(this.#words, EMPTY_INDEX) !== 0n
  }

  /** Main thread only. */
  set isEmpty(isEmpty: boolean) {
    Atomics.store(this.#words, EMPTY_INDEX, isEmpty ? 1n : 0n)
    Atomics.notify(this.#words, EMPTY_INDEX)
  }

  /** Resolves once this node has state. */
  async waitUntilNotEmpty(): Promise<void> {
    while (this.isEmpty) await Atomics.waitAsync(this.#words, EMPTY_INDEX, 1n).value
  }
}

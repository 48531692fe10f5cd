import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { WriteReadiness } from '@influencer-stats/runtime/write-readiness'
import { join } from 'node:path'
import { AVAILABILITY_BYTES, SharedAvailability } from './availability.ts'
import { createUnavailableError } from './errors.ts'
import type { LogState } from './log.ts'
import { LOG_SERVERS_BYTES, SharedLogServers } from './status/log-servers.ts'

/**
 * Returns the folder of a cluster node's database; a standalone service uses another one. The name `view` is stored on
 * the disks of nodes, so it cannot change.
 */
export const toReplicaFolder = (data: string) => join(data, 'view')

// The main thread publishes the state of the log to the other threads in shared memory. These are the positions of its
// 64-bit words.
const APPLIED_INDEX = 0
const KNOWN_INDEX = 1
const CONTACT_INDEX = 2
const CLOCK_MIN_INDEX = 3
const CLOCK_MAX_INDEX = 4

const STATE_BYTES = 5 * BigInt64Array.BYTES_PER_ELEMENT

export const createLogStateMemory = () => new SharedArrayBuffer(STATE_BYTES + AVAILABILITY_BYTES + LOG_SERVERS_BYTES)

/** Returns the access to the availability of the log, in the same memory. */
export const getSharedAvailability = (memory: SharedArrayBuffer) => new SharedAvailability(memory, STATE_BYTES)
/** Returns the access to the servers of the log, in the same memory. */
export const getSharedLogServers = (memory: SharedArrayBuffer) =>
  new SharedLogServers(memory, STATE_BYTES + AVAILABILITY_BYTES)

/** Creates a thread's access to the readiness of a cluster node for reads and writes. */
export function createWriteReadiness(memory: SharedArrayBuffer): WriteReadiness {
  const availability = getSharedAvailability(memory)
  return {
    getWriteFault: () => availability.read(),
    getReadFault: () =>
      availability.isEmpty ? createUnavailableError(undefined, availability.read()?.code) : undefined,
    waitUntilReadable: () => availability.waitUntilNotEmpty(),
  }
}

export function writeLogState(
  memory: SharedArrayBuffer,
  { applied, known, lastContactAt, clockOffsets }: LogState,
): void {
  const words = new BigInt64Array(memory)
  Atomics.store(words, KNOWN_INDEX, BigInt(known))
  Atomics.store(words, CONTACT_INDEX, BigInt(Math.floor(lastContactAt)))
  Atomics.store(words, CLOCK_MIN_INDEX, BigInt(Math.floor(clockOffsets.min)))
  Atomics.store(words, CLOCK_MAX_INDEX, BigInt(Math.ceil(clockOffsets.max)))
  Atomics.store(words, APPLIED_INDEX, BigInt(applied))
}

/** Returns the time since the state machine last had all known entries of the log (s). */
export const getStalenessSeconds = ({ lastContactAt }: LogState): number => (steadyNow() - lastContactAt) / 1_000

export function readLogState(memory: SharedArrayBuffer): LogState {
  const words = new BigInt64Array(memory)
  const load = (index: number) => Number(Atomics.load(words, index))
  return {
    applied: load(APPLIED_INDEX),
    known: load(KNOWN_INDEX),
    lastContactAt: load(CONTACT_INDEX),
    clockOffsets: { min: load(CLOCK_MIN_INDEX), max: load(CLOCK_MAX_INDEX) },
  }
}

/**
 * Creates a function that returns the log's time (ms since 1970) in any thread. While the system clock is within the
 * bounds of the log's clock, it returns the system clock. Otherwise the system clock is wrong, and it returns the lower
 * bound.
 */
export function createLogClock(memory: SharedArrayBuffer): () => number {
  const words = new BigInt64Array(memory)
  return () => {
    const [now, steady] = [Date.now(), steadyNow()]
    const min = Math.floor(steady) + Number(Atomics.load(words, CLOCK_MIN_INDEX))
    const max = Math.ceil(steady) + Number(Atomics.load(words, CLOCK_MAX_INDEX))
    return min <= now && now <= max ? now : min
  }
}

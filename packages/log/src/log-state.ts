import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { join } from 'node:path'
import type { LogState } from './log.ts'

/** Where the base of a node is: beside that of a service that runs alone, which stays as it is. */
export const viewFolder = (data: string) => join(data, 'view')

// The words of the memory in which main tells its threads how far the log is.
const APPLIED = 0
const KNOWN = 1
const CONTACT = 2
const CLOCK_MIN = 3
const CLOCK_MAX = 4

export const logStateMemory = () => new SharedArrayBuffer(5 * BigInt64Array.BYTES_PER_ELEMENT)

export function writeLogState(memory: SharedArrayBuffer, { applied, known, contact, clockOffsets }: LogState): void {
  const words = new BigInt64Array(memory)
  Atomics.store(words, KNOWN, BigInt(known))
  Atomics.store(words, CONTACT, BigInt(Math.floor(contact)))
  Atomics.store(words, CLOCK_MIN, BigInt(Math.floor(clockOffsets.min)))
  Atomics.store(words, CLOCK_MAX, BigInt(Math.ceil(clockOffsets.max)))
  Atomics.store(words, APPLIED, BigInt(applied))
}

/** For how long a view has not had all of the log, as far as anybody could tell (s). */
export const silenceOf = ({ contact }: LogState): number => (steadyNow() - contact) / 1_000

export function readLogState(memory: SharedArrayBuffer): LogState {
  const words = new BigInt64Array(memory)
  const at = (index: number) => Number(Atomics.load(words, index))
  return {
    applied: at(APPLIED),
    known: at(KNOWN),
    contact: at(CONTACT),
    clockOffsets: { min: at(CLOCK_MIN), max: at(CLOCK_MAX) },
  }
}

/**
 * Returns the log's clock (ms since 1970) for every thread: the system clock while that agrees with the last replies of the log.
 * Otherwise the clock of this machine is wrong, and the result is the log's clock less the delay of a reply.
 */
export function createLogClock(memory: SharedArrayBuffer): () => number {
  const words = new BigInt64Array(memory)
  return () => {
    const [now, steady] = [Date.now(), steadyNow()]
    const min = Math.floor(steady) + Number(Atomics.load(words, CLOCK_MIN))
    const max = Math.ceil(steady) + Number(Atomics.load(words, CLOCK_MAX))
    return min <= now && now <= max ? now : min
  }
}

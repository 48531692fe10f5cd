import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFolder } from './temporary-folder.ts'

// libfaketime of the Debian package gives a process a wall clock that differs from the machine's.
const [LIBRARY] = globSync('/usr/lib/*/faketime/libfaketime.so.1')

export const hasFaketime = LIBRARY !== undefined

// The monotonic clock remains that of the machine, so timers are not affected.
const createPreloadEnv = () => ({ LD_PRELOAD: LIBRARY!, FAKETIME_DONT_FAKE_MONOTONIC: '1' })
const formatOffset = (seconds: number) => `${seconds < 0 ? '' : '+'}${seconds}s`

/** Environment of a process whose wall clock is ahead by the given seconds. */
export const createClockAheadEnv = (seconds: number): Readonly<Record<string, string>> => ({
  ...createPreloadEnv(),
  FAKETIME: formatOffset(seconds),
})

/** A wall clock that a test moves, for running processes and for itself. */
export interface MovingClock {
  /** Environment of the processes that have this clock. */
  readonly env: Readonly<Record<string, string>>
  /** Time by which it is ahead of the machine's clock (ms). */
  readonly offset: number
  /** Returns the time of this clock (ms since 1970). */
  now(): number
  /** Moves the clock ahead. @param ms whole seconds */
  advance(ms: number): void
}

/** Creates a clock with the machine's time. Processes read its offset each time they read their clock. */
export function createMovingClock(): MovingClock {
  const file = join(createTemporaryFolder(), 'offset')
  let offset = 0
  const write = () => writeFileSync(file, formatOffset(offset / 1_000))
  write()
  return {
    env: { ...createPreloadEnv(), FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1' },
    get offset() {
      return offset
    },
    now: () => Date.now() + offset,
    advance(ms) {
      offset += ms
      write()
    },
  }
}

import type { StatsLogger } from './logger.ts'

/** Writes nothing. */
export function createSilentLogger(): StatsLogger {
  return { dropped: 0, debug() {}, info() {}, error() {}, async close() {} }
}

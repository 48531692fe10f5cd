import type { Logger } from './logger.ts'

/** Writes nothing. */
export function createSilentLogger(): Logger {
  return { dropped: 0, debug() {}, info() {}, error() {}, async close() {} }
}

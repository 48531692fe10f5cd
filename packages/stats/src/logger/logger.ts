import { openLineSink, type LineSink } from '@influencer-stats/runtime/line-sink'

/** Log of the service's steps, one line per step. */
export interface StatsLogger {
  /** Logs one step of a request: the bulk of the log. */
  debug(message: string): void
  info(message: string): void
  error(message: string, fault?: unknown): void
  /** Number of dropped lines. */
  readonly dropped: number
  /** Writes all buffered lines. Idempotent. */
  close(): Promise<void>
}

/**
 * Options of a logger. `to` is an open file descriptor, by default 1. It closes with the logger unless it is 1 or 2.
 */
export interface LoggerOptions {
  readonly to?: number
  /** Minimum severity of a line. `console` and `dropping` ignore it, like the logger of the source project. */
  readonly level?: string
  /** Texts that are removed from every line. */
  readonly secrets?: readonly string[]
}

export type LogLevel = 'DEBUG' | 'INFO' | 'ERROR'

/** Opens a sink for text lines. A later line reports the number of lost ones. */
export const createLineSink = (to: number): LineSink =>
  openLineSink(to, { formatLoss: (lost) => formatLine('ERROR', `${lost} lines could not be written`).trimEnd() })

/** Formats a text line of `console` and `dropping`. */
export function formatLine(level: LogLevel, message: string, fault?: unknown): string {
  const cause = fault === undefined ? '' : ` (${fault instanceof Error ? fault.message : String(fault)})`
  return `${new Date().toISOString()} ${level} ${message}${cause}\n`
}

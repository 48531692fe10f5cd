import { openLineSink, type LineSink } from '@influencer-stats/runtime/line-sink'

/** Where the service writes what it does, a line a step. */
export interface StatsLogger {
  /** One step of a request's way: the bulk of what is logged. */
  debug(message: string): void
  info(message: string): void
  error(message: string, fault?: unknown): void
  /** Lines that were dropped rather than written. */
  readonly dropped: number
  /** Writes what is still buffered. Idempotent. */
  close(): Promise<void>
}

/** Where lines go: an open file descriptor, 1 unless told otherwise. Any but 1 and 2 is closed with the logger. */
export interface LoggerOptions {
  readonly to?: number
  /** Least severe line to write; `console` and `dropping`, like the logger they mirror, know no levels. */
  readonly level?: string
  /** No line has them in it. */
  readonly secrets?: readonly string[]
}

export type LogLevel = 'DEBUG' | 'INFO' | 'ERROR'

/** For lines of text; what could not be written is told in one of them. */
export const createLineSink = (to: number): LineSink =>
  openLineSink(to, { formatLoss: (lost) => formatLine('ERROR', `${lost} lines could not be written`).trimEnd() })

/** A line of text as `console` and `dropping` write it. */
export function formatLine(level: LogLevel, message: string, fault?: unknown): string {
  const cause = fault === undefined ? '' : ` (${fault instanceof Error ? fault.message : String(fault)})`
  return `${new Date().toISOString()} ${level} ${message}${cause}\n`
}

import type { OnSkip, SkipReason } from './frame-assembler.ts'
import type { Logger } from '../logger.ts'

/** Minimum time between two log lines about skipped messages (ms). */
const LINE_INTERVAL_MS = 60_000

const DESCRIPTIONS: Readonly<Record<SkipReason, string>> = {
  foreign: 'not a frame of this service',
  damaged: 'damaged',
  torn: 'a part of an incomplete frame',
}

export interface SkipReportOptions {
  readonly service: string
  readonly stream: string
  readonly log: Logger
  /** Called for every skipped message. @param count number of messages */
  onSkip?(reason: SkipReason, count: number): void
}

/** Reports the messages that all nodes skip: the first at once, later ones in at most one line per minute. */
export function createSkipReport({ service, stream, log, onSkip }: SkipReportOptions): OnSkip {
  let nextLineAt = 0
  let unreportedCount = 0
  return (reason, seq, count) => {
    onSkip?.(reason, count)
    unreportedCount += count
    if (performance.now() < nextLineAt) return
    const others = unreportedCount > 1 ? ` (${unreportedCount} messages since the last report)` : ''
    log.warn(`${service}: skipped message ${seq} of stream ${stream}: ${DESCRIPTIONS[reason]}${others}`)
    unreportedCount = 0
    nextLineAt = performance.now() + LINE_INTERVAL_MS
  }
}

import { readRecords, type Drop, type LogRecord } from './log-records.ts'
import { readBatchHeader } from './write-batch.ts'

/** One log of LevelDB to check. */
export interface LogFile {
  readonly name: string
  readonly bytes: Buffer
  /** True if a write to this log failed. The bytes after that write were never acknowledged. */
  readonly hasFailed: boolean
}

export interface LogRules {
  /** True if a power cut may have removed unsynced bytes, at any position. */
  readonly mayHaveHoles: boolean
  /** True if the newest log may end in the middle of a record. */
  readonly mayBeTorn: boolean
  /** See `LevelManifest.sequenceAtLog`: the first record has the next number or a lower one. */
  readonly sequenceBefore: number
  /** Called with each record. */
  onRecord?(payload: Buffer): void
}

export interface LogFinding {
  readonly name: string
  readonly problem: string
}

export interface LogReport {
  readonly findings: readonly LogFinding[]
  /** Number of changes that a power cut lost. */
  readonly lost: number
  readonly lastSequence: number
}

const SECTOR_BYTES = 512
const PROBLEMS: Record<Drop['reason'], string> = {
  torn: 'the file ends within the record',
  zeros: 'zeros instead of a record',
  checksum: 'the record has a wrong checksum',
  length: 'the record has a wrong length',
  fragment: 'the record is incomplete',
}

/** Checks that logs contain every record: sequence numbers must continue from record to record and from log to log. */
export function checkLogs(logs: readonly LogFile[], rules: LogRules): LogReport {
  const findings: LogFinding[] = []
  let lost = 0
  let sequence = rules.sequenceBefore
  let isFirst = true
  /** True if data is known to be missing since the last record. */
  let hasGap = false

  function take({ offset, payload }: LogRecord, name: string): void {
    const batch = readBatchHeader(payload)
    if (!batch) return void findings.push({ name, problem: `at byte ${offset}: the record is too short` })
    const missing = batch.sequence - sequence - 1
    if (missing > 0) {
      if (rules.mayHaveHoles) lost += missing
      else if (!hasGap) findings.push({ name, problem: `before byte ${offset}: ${missing} changes are missing` })
    } else if (missing < 0 && !isFirst)
      findings.push({ name, problem: `at byte ${offset}: the record has the sequence of an older one` })
    sequence = batch.sequence + batch.count - 1
    rules.onRecord?.(payload)
    isFirst = false
    hasGap = false
  }

  for (const [i, log] of logs.entries()) {
    const { name, bytes, hasFailed } = log
    const isNewest = i === logs.length - 1
    // After a failed write the number of attempted changes is unknown.
    hasGap ||= hasFailed
    let hasDrop = false
    for (const piece of readRecords(bytes)) {
      if (piece.kind === 'record') take(piece, name)
      else if (isLegitimate(piece, log, isNewest, hasDrop, rules)) hasDrop = hasGap = true
      else {
        findings.push({ name, problem: `at byte ${piece.offset}: ${PROBLEMS[piece.reason]}` })
        // Records that are missing after this damage are its result, so they get no finding.
        hasGap = true
      }
      hasGap ||= hasFailed
    }
  }
  return { findings, lost, lastSequence: sequence }
}

/** True if a failed write, a killed process or a power cut explains the drop, so that it is no damage. */
function isLegitimate(
  drop: Drop,
  { bytes, hasFailed }: LogFile,
  isNewest: boolean,
  hasDrop: boolean,
  rules: LogRules,
): boolean {
  if (hasFailed) return true
  if (drop.reason === 'torn' && isNewest && rules.mayBeTorn) return true
  if (!rules.mayHaveHoles) return false
  if (drop.reason === 'torn' || drop.reason === 'zeros') return true
  if (drop.reason === 'fragment') return hasDrop
  return hasHole(bytes, drop)
}

/**
 * True if bytes of a record are in a sector of zeros, or if its last byte and all later bytes of the file are zeros.
 */
function hasHole(bytes: Buffer, { offset, end, claimedEnd }: Drop): boolean {
  const recordEnd = Math.min(end, claimedEnd, bytes.length)
  for (let at = offset - (offset % SECTOR_BYTES); at < recordEnd; at += SECTOR_BYTES)
    if (isZero(bytes, at, Math.min(at + SECTOR_BYTES, bytes.length))) return true
  return isZero(bytes, recordEnd - 1, bytes.length)
}

export function isZero(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== 0) return false
  return true
}

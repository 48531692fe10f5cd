import { isUtf8 } from 'node:buffer'
import { MAX_KEY_BYTES } from '../core/key-limits.ts'
import { parseLine, type Op } from '../core/change-lines.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'

const NEWLINE = 0x0a

/**
 * Size of the lines to parse before `yieldTurn` (bytes). To parse them takes 0.5 ms; 1.3 ms if the lines are as short as
 * possible.
 */
const SLICE_BYTES = 16_384

export interface BatchLimits {
  /** Maximum size of a value (bytes). */
  readonly maxValue: number
  /** Maximum number of lines, including empty ones. */
  readonly maxLines: number
}

/** An invalid line. */
export interface BadLine {
  /** Number of the line, from 1. */
  readonly line: number
  readonly reason: string
  /** Part that exceeds a limit; absent if the line has another fault. */
  readonly tooLarge?: 'key' | 'value' | 'batch'
}

/** Parses a batch in NDJSON. Resolves with its changes, or with its first invalid line. Empty lines are skipped. */
export async function parseBatch(body: Buffer, { maxValue, maxLines }: BatchLimits): Promise<Op[] | BadLine> {
  const ops: Op[] = []
  for (let from = 0, line = 1, pause = SLICE_BYTES; from < body.length; line++) {
    if (line > maxLines)
      return { line, reason: `a batch must have at most ${maxLines} lines; received more`, tooLarge: 'batch' }
    if (from >= pause) {
      await yieldTurn()
      pause = from + SLICE_BYTES
    }
    const next = body.indexOf(NEWLINE, from)
    const end = next < 0 ? body.length : next
    const bytes = body.subarray(from, end)
    from = end + 1
    if (!isUtf8(bytes)) return { line, reason: 'it must be UTF-8; received other bytes' }
    const text = bytes.toString()
    if (text.trim() === '') continue
    const op = parseLine(text)
    if (typeof op === 'string') return { line, reason: op }
    if (op.key.length > MAX_KEY_BYTES)
      return { line, reason: `"id" must be at most ${MAX_KEY_BYTES} bytes; received ${op.key.length}`, tooLarge: 'key' }
    if (op.type === 'put' && op.value.length > maxValue)
      return {
        line,
        reason: `the value must be at most ${maxValue} bytes; received ${op.value.length}`,
        tooLarge: 'value',
      }
    ops.push(op)
  }
  return ops
}

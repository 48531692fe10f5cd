import { isUtf8 } from 'node:buffer'
import { MAX_KEY_BYTES } from './key-limits.ts'
import { parseLine, type Op } from './change-lines.ts'
import { yieldTurn } from './yield-turn.ts'

const NEWLINE = 0x0a

// Bytes that are parsed before others have their turn: 2 ms, of the shortest lines 5.
const SLICE_LINES = 65_536

export interface BatchLimits {
  /** Largest value (bytes). */
  readonly maxValue: number
  /** Most lines, empty ones included. */
  readonly maxLines: number
}

/** A line that is not a change: its number, from 1, and what is wrong with it. */
export interface BadLine {
  readonly line: number
  readonly reason: string
  /** What is larger than allowed, where the line is well-formed. */
  readonly tooLarge?: 'key' | 'value' | 'batch'
}

/** The changes of a batch in NDJSON, or its first bad line. Empty lines are passed over. */
export async function parseBatch(body: Buffer, { maxValue, maxLines }: BatchLimits): Promise<Op[] | BadLine> {
  const ops: Op[] = []
  for (let from = 0, line = 1, pause = SLICE_LINES; from < body.length; line++) {
    if (line > maxLines) return { line, reason: `there are more than ${maxLines} lines`, tooLarge: 'batch' }
    if (from >= pause) {
      await yieldTurn()
      pause = from + SLICE_LINES
    }
    const next = body.indexOf(NEWLINE, from)
    const end = next < 0 ? body.length : next
    const bytes = body.subarray(from, end)
    from = end + 1
    if (!isUtf8(bytes)) return { line, reason: 'it is not UTF-8' }
    const text = bytes.toString()
    if (text.trim() === '') continue
    const op = parseLine(text)
    if (typeof op === 'string') return { line, reason: op }
    if (op.key.length > MAX_KEY_BYTES)
      return { line, reason: `its key is over ${MAX_KEY_BYTES} bytes`, tooLarge: 'key' }
    if (op.type === 'put' && op.value.length > maxValue)
      return { line, reason: `its value is over ${maxValue} bytes`, tooLarge: 'value' }
    ops.push(op)
  }
  return ops
}

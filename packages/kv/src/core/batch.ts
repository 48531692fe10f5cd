import { isUtf8 } from 'node:buffer'
import { MAX_KEY } from './limits.ts'
import { parseLine, type Op } from './lines.ts'

const NEWLINE = 0x0a

/** A line that is not a change: its number, from 1, and what is wrong with it. */
export interface BadLine {
  readonly line: number
  readonly reason: string
  /** A well-formed change, but of a key or a value that is larger than allowed. */
  readonly tooLarge?: 'key' | 'value'
}

/** The changes of a batch in NDJSON, or its first bad line. Empty lines are passed over. */
export function parseBatch(body: Buffer, maxValue: number): Op[] | BadLine {
  const ops: Op[] = []
  for (let from = 0, line = 1; from < body.length; line++) {
    const next = body.indexOf(NEWLINE, from)
    const end = next < 0 ? body.length : next
    const bytes = body.subarray(from, end)
    from = end + 1
    if (!isUtf8(bytes)) return { line, reason: 'it is not UTF-8' }
    const text = bytes.toString()
    if (text.trim() === '') continue
    const op = parseLine(text)
    if (typeof op === 'string') return { line, reason: op }
    if (op.key.length > MAX_KEY) return { line, reason: `its key is over ${MAX_KEY} bytes`, tooLarge: 'key' }
    if (op.type === 'put' && op.value.length > maxValue)
      return { line, reason: `its value is over ${maxValue} bytes`, tooLarge: 'value' }
    ops.push(op)
  }
  return ops
}

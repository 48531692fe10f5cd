import type { Op } from './change-lines.ts'
import { decodeWrites } from './encode-writes.ts'

/** Writes that took effect at one sequence, as bytes (`encode-writes.ts`). */
export interface ChangeStep {
  readonly seq: number
  readonly writes: Uint8Array
}

/** Consecutive steps in one piece of memory, for another thread. */
export interface ChangePage {
  /** Sequence up to which all changes are in the page, or precede it. */
  readonly upTo: number
  /** True if no later changes existed. */
  readonly isEnd: boolean
  /** Sequence of each step. `ends` has the offsets of the ends of their writes. */
  readonly seqs: readonly number[]
  readonly ends: readonly number[]
  readonly writes: Uint8Array
}

export function toPage(steps: readonly ChangeStep[], upTo: number, isEnd = true): ChangePage {
  let end = 0
  const ends = steps.map(({ writes }) => (end += writes.length))
  // Not from the pool: a transfer to another thread includes the whole memory of a Buffer.
  const writes = Buffer.allocUnsafeSlow(end)
  for (const [i, step] of steps.entries()) writes.set(step.writes, i > 0 ? ends[i - 1]! : 0)
  return { upTo, isEnd, seqs: steps.map(({ seq }) => seq), ends, writes }
}

/** Yields the changes of each step of a page, in order. Keys and values are parts of the page, not copies. */
export function* readChanges({
  seqs,
  ends,
  writes,
}: ChangePage): Generator<{ readonly seq: number; readonly ops: Op[] }> {
  let from = 0
  for (const [i, seq] of seqs.entries()) {
    const end = ends[i]!
    const bytes = Buffer.from(writes.buffer, writes.byteOffset + from, end - from)
    yield { seq, ops: decodeWrites(bytes).flatMap(({ ops }) => ops) }
    from = end
  }
}

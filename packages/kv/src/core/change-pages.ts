import type { Op } from './change-lines.ts'
import { decodeWrites } from './encode-writes.ts'

/** Writes that took effect at one sequence, as bytes (`encode-writes.ts`). */
export interface ChangeStep {
  readonly seq: number
  readonly writes: Uint8Array
}

/** Consecutive steps, for another thread. Their writes are joined, so that they are one piece of memory. */
export interface ChangePage {
  /** Last sequence of the page: a reader of the page then has all changes up to it. */
  readonly upTo: number
  /** True if no later changes existed when the page was built. */
  readonly isEnd: boolean
  /** Sequence of each step. */
  readonly seqs: readonly number[]
  /** Offset in `writes` at which the writes of each step end. */
  readonly ends: readonly number[]
  readonly writes: Uint8Array
}

/** Builds a page. @param upTo last sequence of the page @param isEnd true if no later changes exist */
export function toPage(steps: readonly ChangeStep[], upTo: number, isEnd = true): ChangePage {
  let end = 0
  const ends = steps.map(({ writes }) => (end += writes.length))
  // Not from Node's pool of small Buffers: a message to another thread would include the whole pool.
  const writes = Buffer.allocUnsafeSlow(end)
  for (const [i, step] of steps.entries()) writes.set(step.writes, i > 0 ? ends[i - 1]! : 0)
  return { upTo, isEnd, seqs: steps.map(({ seq }) => seq), ends, writes }
}

/** Yields the changes of each step of a page, in order. Keys and values share the memory of the page. */
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

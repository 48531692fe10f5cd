import type { Op } from './change-lines.ts'
import { decodeWrites } from './encode-writes.ts'

/** Writes that took effect at one place in the order, as bytes (`writes.ts`). */
export interface ChangeStep {
  readonly seq: number
  readonly writes: Uint8Array
}

/** Steps that follow each other, as they go to another thread: in one piece of memory. */
export interface ChangePage {
  /** All up to this place is in it, or came before. */
  readonly upTo: number
  /** Whether there was nothing after that. */
  readonly isEnd: boolean
  /** The place of each step, and where its writes end. */
  readonly seqs: readonly number[]
  readonly ends: readonly number[]
  readonly writes: Uint8Array
}

export function toPage(steps: readonly ChangeStep[], upTo: number, isEnd = true): ChangePage {
  let end = 0
  const ends = steps.map(({ writes }) => (end += writes.length))
  // Not from the pool: what goes to another thread takes all of its memory along.
  const writes = Buffer.allocUnsafeSlow(end)
  for (const [i, step] of steps.entries()) writes.set(step.writes, i > 0 ? ends[i - 1]! : 0)
  return { upTo, isEnd, seqs: steps.map(({ seq }) => seq), ends, writes }
}

/** What each step of a page changed, in order. Keys and values are parts of the page, not copies. */
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

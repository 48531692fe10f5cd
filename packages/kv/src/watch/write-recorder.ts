import type { WriteResult, Outcomes } from '../core/evaluate-writes.ts'
import type { Op } from '../core/change-lines.ts'
import { isInternal } from '../core/internal-keys.ts'
import { encodeWrites, type LoggedWrite } from '../core/encode-writes.ts'

/** Where a thread of a service that runs alone tells main what it has written, while somebody watches. */
export interface WriteRecorder {
  /**
   * Writes that took effect together, or did not. To be called for all revisions that were taken: main's order has no
   * gaps. What revisions it is asked after were taken is what makes `from` in `local-feed.ts` right.
   */
  recordWrites(first: number, writes: readonly LoggedWrite[], result: WriteResult): void
  /** Nobody knows what became of revisions that were taken. */
  recordLost(): void
}

/** What main is told. */
export interface RecorderChannel {
  recordWrites(first: number, count: number, writes: Uint8Array): Promise<void>
  recordLost(): Promise<void>
}

export const createRecordingMemory = () => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)

/**
 * What of writes users are told: what they changed, and not what only the service keeps; and when it expires.
 * @param at when it was judged (ms since 1970)
 */
export const toWatchEvents = (
  writes: readonly LoggedWrite[],
  effects: Outcomes,
  at = 0,
  ineffective: ReadonlySet<Op> = EMPTY_OPS,
): LoggedWrite[] =>
  writes
    .filter(({ ops }, i) => effects[i] !== undefined && !isInternal(ops[0]!.key))
    .map(({ ops, isSpecial }) => ({
      ops: isSpecial ? ops.filter((op) => !ineffective.has(op)).map((op) => addExpiry(op, at)) : ops,
    }))
    .filter(({ ops }) => ops.length > 0)

const EMPTY_OPS: ReadonlySet<Op> = new Set()

function addExpiry(op: Op, at: number): Op {
  if (op.type === 'del' || op.ttl === undefined) return op
  const { ttl, ...rest } = op
  return { ...rest, expiresAt: at + ttl }
}

/** Whether anybody watches: one word that all threads see. */
export const isRecording = (memory: Int32Array): boolean => Atomics.load(memory, 0) === 1
export const setRecording = (memory: Int32Array, isOn: boolean) => void Atomics.store(memory, 0, isOn ? 1 : 0)

export function createWriteRecorder(shared: SharedArrayBuffer, channel: RecorderChannel): WriteRecorder {
  const memory = new Int32Array(shared)
  // Main cannot take it any more: who watches is cut by its own side.
  const ignore = () => {}
  return {
    recordWrites(first, writes, { effects, at, ineffective }) {
      if (!isRecording(memory)) return
      channel
        .recordWrites(first, writes.length, encodeWrites(toWatchEvents(writes, effects, at, ineffective)))
        .catch(ignore)
    },
    recordLost() {
      if (isRecording(memory)) channel.recordLost().catch(ignore)
    },
  }
}

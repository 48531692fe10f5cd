import type { Judgement, Outcomes } from '../core/judge.ts'
import type { Op } from '../core/lines.ts'
import { isOwn } from '../core/own-keys.ts'
import { encodeWrites, type LoggedWrite } from '../core/writes.ts'

/** Where a thread of a service that runs alone tells main what it has written, while somebody watches. */
export interface Recorder {
  /**
   * Writes that took effect together, or did not. To be called for all revisions that were taken: main's order has no
   * gaps. What revisions it is asked after were taken is what makes `from` in `local-feed.ts` right.
   */
  wrote(first: number, writes: readonly LoggedWrite[], judged: Judgement): void
  /** Nobody knows what became of revisions that were taken. */
  lost(): void
}

/** What main is told. */
export interface RecorderLine {
  wrote(first: number, count: number, writes: Uint8Array): Promise<void>
  lost(): Promise<void>
}

export const recordingMemory = () => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)

/**
 * What of writes users are told: what they changed, and not what only the service keeps; and when it expires.
 * @param at when it was judged (ms since 1970)
 */
export const toTell = (
  writes: readonly LoggedWrite[],
  effects: Outcomes,
  at = 0,
  ineffective: ReadonlySet<Op> = NO_OPS,
): LoggedWrite[] =>
  writes
    .filter(({ ops }, i) => effects[i] !== undefined && !isOwn(ops[0]!.key))
    .map(({ ops, isSpecial }) => ({
      ops: isSpecial ? ops.filter((op) => !ineffective.has(op)).map((op) => withTime(op, at)) : ops,
    }))
    .filter(({ ops }) => ops.length > 0)

const NO_OPS: ReadonlySet<Op> = new Set()

function withTime(op: Op, at: number): Op {
  if (op.type === 'del' || op.ttl === undefined) return op
  const { ttl, ...rest } = op
  return { ...rest, expiresAt: at + ttl }
}

/** Whether anybody watches: one word that all threads see. */
export const isRecording = (memory: Int32Array): boolean => Atomics.load(memory, 0) === 1
export const setRecording = (memory: Int32Array, isOn: boolean) => void Atomics.store(memory, 0, isOn ? 1 : 0)

export function createRecorder(shared: SharedArrayBuffer, line: RecorderLine): Recorder {
  const memory = new Int32Array(shared)
  // Main cannot take it any more: who watches is cut by its own side.
  const ignore = () => {}
  return {
    wrote(first, writes, { effects, at, ineffective }) {
      if (!isRecording(memory)) return
      line.wrote(first, writes.length, encodeWrites(toTell(writes, effects, at, ineffective))).catch(ignore)
    },
    lost() {
      if (isRecording(memory)) line.lost().catch(ignore)
    },
  }
}

import type { WriteResult, Outcomes } from '../core/evaluate-writes.ts'
import type { Op } from '../core/change-lines.ts'
import { isInternal } from '../core/internal-keys.ts'
import { encodeWrites, type LoggedWrite } from '../core/encode-writes.ts'

/** Reports the writes of a thread to the main thread while the feed of a standalone service is on (`LocalFeed`). */
export interface WriteRecorder {
  /**
   * Reports evaluated writes and their revisions. The caller must report all revisions that it takes, because the main
   * thread waits for each number. The caller must take them before this call: `LocalFeed.#start` relies on that order.
   * @param first number of the first revision
   */
  recordWrites(first: number, writes: readonly LoggedWrite[], result: WriteResult): void
  /** Reports that the outcome of some revisions is unknown. */
  recordLost(): void
}

/** Messages to the main thread: see `messages.ts`. */
export interface RecorderChannel {
  recordWrites(first: number, count: number, writes: Uint8Array): Promise<void>
  recordLost(): Promise<void>
}

export const createRecordingMemory = () => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)

/**
 * Returns the changes that watch streams show. Writes and changes without an effect, and internal rows, are omitted. A
 * time to expiry is replaced by the expiry time.
 * @param effects see `WriteResult`
 * @param at time of the evaluation (ms since 1970)
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

/** True while the feed is on. The flag is one word, which all threads share. */
const isRecording = (memory: Int32Array): boolean => Atomics.load(memory, 0) === 1
export const setRecording = (memory: Int32Array, isOn: boolean) => void Atomics.store(memory, 0, isOn ? 1 : 0)

export function createWriteRecorder(shared: SharedArrayBuffer, channel: RecorderChannel): WriteRecorder {
  const memory = new Int32Array(shared)
  // A message fails if the main thread no longer accepts messages, at the end of the service. The main thread then ends
  // the feed itself.
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

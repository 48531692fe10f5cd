import { openSharedLevel, type SharedLevel } from '@influencer-stats/runtime/shared-level'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { onTestFinished } from 'vitest'
import { FrameError } from '../../src/errors.ts'
import type { EntryValue, LogEntry, LogPosition } from '../../src/log.ts'
import { createSnapshotCodec } from '../../src/state-machine/level-snapshot.ts'
import {
  openLevelStateMachine,
  type LevelStateMachine,
  type PositionRow,
} from '../../src/state-machine/level-state-machine.ts'
import { readEntry } from '../../src/state-machine/read-entry.ts'

/** Kind of the entries of the state machine: see `toExtension`. */
export const EXTEND_KIND = 1
export const POSITION_KEY = 'position'

interface Extension {
  readonly name: string
  readonly text: string
}

/** Returns the body of an entry that appends a text to the text with a name. */
export const toExtension = (name: string, text: string): EntryValue<Extension> & { encode: () => Buffer } => ({
  value: { name, text },
  encode: () => Buffer.from(JSON.stringify({ name, text })),
})

interface TextBatch {
  readonly texts: ReadonlyMap<string, string>
  readonly outcomes: readonly string[]
}

export interface LevelTexts {
  readonly folder: string
  readonly level: SharedLevel
  readonly machine: LevelStateMachine
  /** Rows with which the model loaded its data. */
  readonly loaded: readonly (PositionRow | undefined)[]
  /** Number of evaluated batches. */
  countEvaluations(): number
  /** Reads all texts by their names. */
  read(): Promise<Record<string, string>>
  readPosition(): Promise<PositionRow | undefined>
}

/**
 * Opens a state machine with a text for each name; the outcome of an entry is the new text. The test closes it.
 * @param isReplica true for a node of a cluster, false for a standalone service
 */
export async function openLevelTexts(isReplica: boolean, folder = createTemporaryFolder()): Promise<LevelTexts> {
  const level = await openSharedLevel(folder, {
    service: 'test',
    format: 1,
    isReplica,
    ownRow: { key: Buffer.from(POSITION_KEY), since: 1 },
    log: { error() {}, info() {} },
  })
  onTestFinished(() => level.close())
  const { db } = level
  const loaded: (PositionRow | undefined)[] = []
  let evaluations = 0
  function evaluate(entries: readonly LogEntry[]): TextBatch {
    evaluations++
    const texts = new Map<string, string>()
    const outcomes = entries.map((entry) => {
      if (entry.kind !== EXTEND_KIND) throw new FrameError('LOG_FORMAT_UNKNOWN', 'has an unknown kind', entry.seq)
      const { name, text } = readEntry(entry, (body): Extension => JSON.parse(body.toString()))
      const extended = (texts.get(name) ?? db.getSync(name) ?? '') + text
      texts.set(name, extended)
      return extended
    })
    return { texts, outcomes }
  }
  const machine = await openLevelStateMachine<PositionRow, TextBatch>({
    level,
    positionKey: POSITION_KEY,
    isReplica,
    snapshots: createSnapshotCodec(db, { name: 'texts 1', positionKey: Buffer.from(POSITION_KEY) }),
    load: (row) => void loaded.push(row),
    evaluate,
    async write({ texts }, row) {
      const batch = db.batch()
      for (const [name, text] of texts) batch.put(name, text)
      await level.write(() => batch.put(POSITION_KEY, JSON.stringify(row)).write())
      return row
    },
    publish: ({ outcomes }) => [...outcomes],
  })

  const readAll = async () => Object.fromEntries(await db.iterator().all())
  return {
    folder,
    level,
    machine,
    loaded,
    countEvaluations: () => evaluations,
    async read() {
      const { [POSITION_KEY]: _, ...texts } = await readAll()
      return texts
    },
    async readPosition() {
      const { [POSITION_KEY]: row } = await readAll()
      return row === undefined ? undefined : JSON.parse(row)
    },
  }
}

/** Position at a sequence. */
export const at = (seq: number): LogPosition => ({ epoch: 'e', seq, at: 0, check: 0, writers: [] })

/** Returns the entry at a sequence that extends a text, as a log on servers passes it. */
export const createEntry = (seq: number, name: string, text: string): LogEntry => ({
  seq,
  at: 0,
  kind: EXTEND_KIND,
  body: toExtension(name, text).encode(),
})

import { readBootId } from '@influencer-stats/runtime/boot-id'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { LogEntry, LogPosition, StateMachine } from '../log.ts'
import type { Logger } from '../logger.ts'
import { CLEAN_BOOT, clearLevel, isTorn } from './boot-check.ts'

/** Row of a database with its position in the log. A service may store more data in it. */
export interface PositionRow {
  readonly position?: LogPosition
  /** Boot id of the machine at the time of the write, or `CLEAN_BOOT` if all data is on the disk. */
  readonly boot: string | undefined
}

/** Encoding of a database's snapshot: see `createSnapshotCodec`. */
export interface SnapshotCodec {
  /**
   * Yields a consistent snapshot of the database.
   * @param onRow called with its position row before the first chunk, unless it has none
   */
  write(onRow?: (row: string) => void): AsyncIterable<Buffer>
  /**
   * Writes a snapshot into the empty database, except its position row. Resolves with that row.
   * @throws Error if the format is unknown or the snapshot is truncated
   */
  read(chunks: AsyncIterable<Buffer>): Promise<string>
}

/**
 * A service's part of a state machine on LevelDB.
 * @typeParam Batch evaluated entries, and what their write and their outcomes need
 */
export interface LevelModel<Row extends PositionRow, Batch> {
  readonly level: SharedLevel<any, any>
  readonly positionKey: Buffer | string
  /**
   * True for a node of a cluster. After a power cut its database is cleared, because the log on the servers has all
   * changes. A standalone service has no copy.
   */
  readonly isReplica: boolean
  readonly snapshots: SnapshotCodec
  /** Parses the position row. By default it is JSON. Undefined if the row has no position. */
  parseRow?(text: string): Row | undefined
  /** Formats the position row. By default as JSON. */
  formatRow?(row: Row): string
  /** Returns the stored row. By default the row that `write` returned; a model with several writes per batch has it. */
  getRow?(): Row | undefined
  /** Reads the data that the service has in memory: at the start, and after a snapshot has replaced the database. */
  load?(row: Row | undefined): void | Promise<void>
  /**
   * Evaluates entries, in order, and changes nothing: the write may fail. After a failed write the log of a cluster
   * passes the same entries again, and `write` gets the same batch again.
   * @param row row before these entries
   * @throws FrameError if an entry is damaged or its kind is unknown
   */
  evaluate(entries: readonly LogEntry[], position: LogPosition, row: Row | undefined): Batch | Promise<Batch>
  /** Writes a batch and its position row, atomically. Resolves with the row. */
  write(batch: Batch, row: Required<PositionRow>): Promise<Row>
  /** Publishes a written batch. Returns the outcome of each entry. */
  publish(batch: Batch, entries: readonly LogEntry[], row: Row): unknown[] | Promise<unknown[]>
  /** See `StateMachine`. */
  canLag?(): boolean
}

/** State machine on LevelDB. It runs on the main thread. */
export interface LevelStateMachine extends StateMachine {
  /** Records that all data is on the disk, so that a node can continue from it after a power cut. */
  settle(): Promise<void>
}

/** Opens the state machine of a database. After a power cut, it first clears the database of a node. */
export async function openLevelStateMachine<Row extends PositionRow, Batch>(
  model: LevelModel<Row, Batch>,
): Promise<LevelStateMachine> {
  const { level, positionKey, isReplica, snapshots, parseRow = JSON.parse, formatRow = JSON.stringify } = model
  const valueEncoding = 'utf8'
  const boot = readBootId()
  /** Batch whose write has not succeeded yet, with its entries. */
  let pending: { readonly entries: readonly LogEntry[]; readonly batch: Batch } | undefined
  const text: string | undefined = await level.db.get(positionKey, { valueEncoding })
  let row: Row | undefined = text === undefined ? undefined : parseRow(text)
  if (row && isReplica && isTorn(row.boot)) {
    await clearLevel(level, positionKey)
    row = undefined
  }
  await model.load?.(row)
  const getRow = () => (model.getRow ? model.getRow() : row)

  /** Flushes the database to the disk, then stores that its position is on the disk. */
  async function markClean(last: Row): Promise<void> {
    const clean = { ...last, boot: CLEAN_BOOT }
    await level.flush()
    await level.write((db) => db.put(positionKey, formatRow(clean), { valueEncoding, sync: true }))
    row = clean
  }

  return {
    getPosition: () => getRow()?.position,

    async apply(entries, position) {
      // A standalone log reuses the sequence after a failed write, for other entries.
      if (pending?.entries !== entries) pending = { entries, batch: await model.evaluate(entries, position, row) }
      const { batch } = pending
      row = await model.write(batch, { position, boot })
      pending = undefined
      return model.publish(batch, entries, row)
    },

    canLag: () => model.canLag?.() ?? false,

    snapshot: (onPosition) =>
      snapshots.write((text) => {
        const position = parseRow(text)?.position
        if (position) onPosition?.(position)
      }),

    async restore(chunks) {
      await clearLevel(level, positionKey)
      row = undefined
      await markClean(parseRow(await snapshots.read(chunks)))
      await model.load?.(row)
    },

    async settle() {
      const last = getRow()
      if (isReplica && last && last.boot !== CLEAN_BOOT) await markClean(last)
    },
  }
}

/**
 * Flushes and closes a database, after its state machine has received its last entries. If the flush fails, the
 * database is closed nevertheless.
 */
export async function closeLevel(
  stateMachine: { settle(): Promise<void> },
  level: { close(): Promise<void> },
  log: Logger,
  service: string,
): Promise<void> {
  await stateMachine
    .settle()
    .catch((error: unknown) =>
      log.warn(
        { err: error },
        `${service}: the database was not flushed; after a power cut it is rebuilt from the log`,
      ),
    )
  await level.close()
}

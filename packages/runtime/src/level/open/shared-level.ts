import type { Level } from 'level'
import type { Logger } from 'pino'
import type { Problem } from '../../errors/problems.ts'
import { createLogger } from '../../logging/logger.ts'
import { DiskWatch } from './disk-watch.ts'
import { hasSameIdentity, writeIdentity } from '../folder-identity.ts'
import type { FolderGuard } from '../integrity/folder-guard.ts'
import { flush, openVerifiedLevel, type LevelOptions } from './open-level.ts'
import { toReadProblem, isNotOpen } from '../read-errors.ts'
import { LevelRecovery } from './level-recovery.ts'
import { syncLogs } from '../sync-logs.ts'
import { createHealthMemory, WriteHealth, type LevelShare } from '../write-health.ts'

export interface SharedLevelOptions<K, V> extends LevelOptions<K, V> {
  /** Result of `share` on the main thread. Undefined on the thread that opens first, which manages the database. */
  readonly share?: LevelShare
  /** Default: the log of the process. */
  readonly log?: Pick<Logger, 'error' | 'info'>
  /**
   * True to watch the free space. While it is low, `getRefusal` returns a problem, so the service must call it before
   * each write that adds bytes. Main thread only.
   */
  readonly watchDisk?: boolean
  /** Runs after a fault, when the database is known to be good again, before any write is accepted. */
  readonly onRecovered?: () => void | Promise<void>
}

type OpenOptions<K, V> = SharedLevelOptions<K, V> & { readonly log: Pick<Logger, 'error' | 'info'> }

// Slot of the main thread, which has no share.
const MAIN_SLOT = 0

/**
 * One thread's access to a LevelDB that all threads of a process share. After a failed write, no thread accepts writes
 * until the main thread has restored the database to a known good state. It does so once there is free space.
 */
export class SharedLevel<K = string, V = string> {
  /** For reads. After a fault, it is closed for a moment while the main thread reopens the database. */
  readonly db: Level<K, V>
  /** Memory with the state of the data, for `createDataHealth`. */
  readonly memory: SharedArrayBuffer
  readonly #health: WriteHealth
  readonly #options: OpenOptions<K, V>
  readonly #folder: string
  /** Main thread only. */
  readonly #guard: FolderGuard | undefined
  readonly #disk: DiskWatch | undefined
  readonly #recovery: LevelRecovery<K, V>
  readonly #freeSlots: number[] = []
  #isNewHistory: boolean
  #slots = 1

  /** @internal */
  constructor(
    db: Level<K, V>,
    health: WriteHealth,
    folder: string,
    memory: SharedArrayBuffer,
    options: OpenOptions<K, V>,
    isNewHistory: boolean,
    guard: FolderGuard | undefined,
  ) {
    this.db = db
    this.#isNewHistory = isNewHistory
    this.#guard = guard
    this.#health = health
    this.#folder = folder
    this.memory = memory
    this.#options = options
    const { service, onRecovered, share, log } = options
    const isMain = share === undefined
    this.#recovery = new LevelRecovery({ db, health, folder, service, guard, log, isMain, onRecovered })
    this.#updateIdentity()
    if (options.watchDisk)
      this.#disk = new DiskWatch({ folder, service, db, health, log, write: (run) => this.write(run) })
  }

  /**
   * True if clients may know writes that this data does not have: the folder is new, restored, copied or repaired. A
   * service that numbers its writes must then continue with numbers that were never used. It syncs its choice
   * to the disk, and calls `beginHistory`. Main thread only.
   */
  get isNewHistory(): boolean {
    return this.#isNewHistory
  }

  /**
   * Ends the state `isNewHistory`: the next start continues from this data. Without this call, the next start begins a
   * new history again.
   */
  beginHistory(): void {
    this.#isNewHistory = false
    this.#updateIdentity()
  }

  get service(): string {
    return this.#options.service
  }

  /** Version of the data layout. */
  get format(): number {
    return this.#options.format
  }

  /** Returns the reason why no write is accepted at present, or undefined. */
  getFault(): Problem | undefined {
    return this.#health.getFault()
  }

  /**
   * Returns the reason why a write that adds bytes is refused at present: a fault or, if `watchDisk` is set, little
   * free space. Removals are refused only because of a fault.
   */
  getRefusal(): Problem | undefined {
    return this.#health.getRefusal()
  }

  /**
   * True if all writes are refused on all threads (`getRefusal`), because the operator requested that. The service must
   * check it for removals, too.
   */
  get isStopped(): boolean {
    return this.#health.isStopped
  }

  set isStopped(isStopped: boolean) {
    this.#health.isStopped = isStopped
  }

  /** Runs a write. Resolves when it may be acknowledged. @throws Problem `DISK_FULL`, `STORE_FAILED` */
  async write(run: (db: Level<K, V>) => Promise<void>): Promise<void> {
    await (
      await this.writeAhead(run)
    )?.()
  }

  /**
   * Like `write`, for a caller that begins its next write before the last one may be acknowledged. Resolves when `run`
   * has written. If the result is a function, the write may be acknowledged only when the promise of that function
   * resolves.
   */
  async writeAhead(run: (db: Level<K, V>) => Promise<void>): Promise<(() => Promise<void>) | undefined> {
    const number = this.#health.begin()
    try {
      await run(this.db)
    } catch (error) {
      // For example, a batch that was created before the database was reopened.
      if (isNotOpen(error)) throw toReadProblem(error)!
      const { problem, first } = this.#health.markFailed(error)
      const { service, log } = this.#options
      if (first)
        log.error({ err: error }, `${service}: a write failed; all writes are refused until the data is verified`)
      throw problem
    } finally {
      this.#health.end(number)
    }
    const settled = this.#health.waitForWrites()
    if (settled) return () => settled.then(() => this.#assertHealthy())
    this.#assertHealthy()
    return undefined
  }

  /**
   * Resolves when the database can be read: at once, unless it is being reopened. A reopening ends earlier iterators
   * and snapshots. On the main thread, the promise is always resolved.
   */
  waitUntilOpen(): Promise<void> {
    return this.#recovery.waitUntilOpen()
  }

  /** Resolves when everything that was written is safe from a power cut. */
  flush(): Promise<void> {
    return this.write(flush)
  }

  /**
   * Resolves when everything that was acknowledged before is safe from a power cut. This syncs each log once, while
   * `flush` also writes tables.
   * @throws Problem `DISK_FULL`, `STORE_FAILED`
   */
  sync(): Promise<void> {
    return this.write(() => syncLogs(this.#folder))
  }

  /** Creates the share for one more thread. Main thread only. */
  share(): LevelShare {
    const slot = this.#freeSlots.pop() ?? this.#slots++
    this.#health.addSlot(slot)
    return { memory: this.memory, slot }
  }

  /**
   * Call this when a thread has ended. If the outcome of its writes is unknown, the database is flushed before writes
   * of other threads are acknowledged. Main thread only.
   */
  async releaseShare({ slot }: LevelShare): Promise<void> {
    if (this.#health.isInDoubt(slot)) {
      // The flush begins a new log. So later writes cannot be lost, even if the last record of the old log is
      // incomplete.
      await flush(this.db).catch((error: unknown) => this.#health.markFailed(error))
    }
    this.#health.removeSlot(slot)
    this.#freeSlots.push(slot)
  }

  /** Closes the database. Idempotent. The main thread calls this last, after all threads have ended. */
  async close(): Promise<void> {
    const recoveryEnd = this.#recovery.close()
    await this.#disk?.close()
    await recoveryEnd
    this.#updateIdentity()
    await this.#guard?.stop()
    await this.db.close()
    this.#guard?.witness.close()
    this.#health.release()
  }

  /** Writes a new identity. Then a start detects a copy of the folder that was made before, even at the same path. */
  #updateIdentity(): void {
    if (this.#options.share || this.#isNewHistory) return
    try {
      writeIdentity(this.#folder)
    } catch {
      // For example, the disk is full. An older identity remains valid; without one, the next start begins a new
      // history.
    }
  }

  #assertHealthy(): void {
    const fault = this.getFault()
    if (fault) throw fault
  }
}

/**
 * Opens a LevelDB like `openLevel`, but in such a way that all threads of a process can write to it.
 * @throws StartError like `openLevel`
 */
export async function openSharedLevel<K = string, V = string>(
  folder: string,
  options: SharedLevelOptions<K, V>,
): Promise<SharedLevel<K, V>> {
  const { share, onRecovered: _onRecovered, watchDisk: _watchDisk, ...rest } = options
  const { service, log = createLogger('info', { service }, []), ...levelOptions } = rest
  const { memory, slot } = share ?? { memory: createHealthMemory(), slot: MAIN_SLOT }
  const health = new WriteHealth({ memory, slot })
  if (share) await health.acquire()
  else health.addSlot(slot)
  try {
    const isNewHistory = !share && !hasSameIdentity(folder)
    const { db, verification, isShared, wasCleared } = await openVerifiedLevel(
      folder,
      { service, ...levelOptions },
      share !== undefined,
    )
    if (wasCleared) {
      log.error(
        `${service}: data folder ${folder} had rows without its position in the log; the node rebuilds it from the log`,
      )
    }
    let guard: FolderGuard | undefined
    if (!isShared) {
      // The import is dynamic, because only the main thread has a guard.
      const { FolderGuard } = await import('../integrity/folder-guard.ts')
      guard = new FolderGuard({ folder, service, health, log, verification })
    }
    return new SharedLevel(db, health, folder, memory, { ...options, log }, isNewHistory, guard)
  } catch (error) {
    health.release()
    throw error
  }
}

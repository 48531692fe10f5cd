import type { ClassicLevel } from 'classic-level'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Problem } from '../http/problems.ts'
import { createLogger } from '../process/logger.ts'
import { DiskWatch } from './disk-watch.ts'
import { hasSameIdentity, writeIdentity } from './folder-identity.ts'
import type { FolderGuard } from './integrity/folder-guard.ts'
import type { FolderVerification } from './integrity/folder-verification.ts'
import { flush, openVerifiedLevel, type LevelOptions } from './open-level.ts'
import { toReadProblem, isNotOpen } from './read-errors.ts'
import { removeBallast } from './reclaim-space.ts'
import { hasFreeSpace } from './free-space.ts'
import { syncLogs } from './sync-logs.ts'
import { createHealthMemory, WriteHealth, type LevelShare } from './write-health.ts'

export interface SharedLevelOptions<K, V> extends LevelOptions<K, V> {
  /** What main's `share` gave this thread. Nothing for who opens first: it looks after the database. */
  readonly share?: LevelShare
  /** By default the process's own. */
  readonly log?: Pick<Logger, 'error' | 'info'>
  /** True if the service calls `refusal` before writes that add bytes, which fail while free space is low. Main thread only. */
  readonly watchDisk?: boolean
  /** Runs after a fault, when the database is known good again, before any write is taken. */
  readonly onRecovered?: () => void | Promise<void>
}

/** How often a database that takes no writes is tried again (ms). */
const RETRY_INTERVAL_MS = 500

// LevelDB does not say on which slot it is: main's.
const MAIN_SLOT = 0

/**
 * A LevelDB as one thread of a process has it. After a failed write none is taken, on any thread, until main has brought
 * the database back to a known good state, which it does by itself once there is room.
 */
export class SharedLevel<K = string, V = string> {
  /** To read from. While main opens the database anew, after a fault, it is closed for a moment. */
  readonly db: ClassicLevel<K, V>
  /** Where `faultIn` finds whether writes are taken. */
  readonly memory: SharedArrayBuffer
  readonly #health: WriteHealth
  readonly #options: SharedLevelOptions<K, V>
  readonly #log: Pick<Logger, 'error' | 'info'>
  readonly #folder: string
  /** Main's alone. */
  readonly #guard: FolderGuard | undefined
  readonly #disk: DiskWatch | undefined
  readonly #closing = new AbortController()
  readonly #freeSlots: number[] = []
  #isNewHistory: boolean
  #slots = 1
  #recovering: Promise<void> = Promise.resolve()
  #opening: Promise<void> = Promise.resolve()

  /** @internal */
  constructor(
    db: ClassicLevel<K, V>,
    health: WriteHealth,
    folder: string,
    memory: SharedArrayBuffer,
    options: SharedLevelOptions<K, V>,
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
    this.#log = options.log ?? createLogger('info', { service: options.service }, [])
    if (options.share) void this.#follow()
    else void this.#handleFailures()
    this.#updateIdentity()
    if (options.watchDisk) this.#disk = this.#watchDisk()
  }

  /**
   * True if the data may not continue what clients know: the folder is new, restored, copied or repaired. A service that
   * numbers its writes then reserves numbers that were never given, synced to the disk, and calls `beginHistory`. Main's alone.
   */
  get isNewHistory(): boolean {
    return this.#isNewHistory
  }

  /** The next start continues from here. A process that ends before this call leaves a folder that begins a new history. */
  beginHistory(): void {
    this.#isNewHistory = false
    this.#updateIdentity()
  }

  get service(): string {
    return this.#options.service
  }

  /** The version of its layout. */
  get format(): number {
    return this.#options.format
  }

  /** Why no write is taken at present; nothing if they are. */
  getFault(): Problem | undefined {
    return this.#health.getFault()
  }

  /**
   * Why a write that adds bytes is refused at present: a `fault`, or little free space, if `watchDisk` is set. Removals are
   * refused while there is a `fault` alone.
   */
  getRefusal(): Problem | undefined {
    return this.#health.getRefusal()
  }

  /** Resolves once what `run` wrote may be acknowledged. @throws Problem `DISK_FULL`, `STORE_FAILED` */
  async write(run: (db: ClassicLevel<K, V>) => Promise<void>): Promise<void> {
    await (
      await this.writeAhead(run)
    )?.()
  }

  /**
   * The same for who goes on to the next write meanwhile: resolves once `run` has written, with what is to be awaited
   * before that is acknowledged, if anything is.
   */
  async writeAhead(run: (db: ClassicLevel<K, V>) => Promise<void>): Promise<(() => Promise<void>) | undefined> {
    const number = this.#health.begin()
    try {
      await run(this.db)
    } catch (error) {
      // Made of the base as it was before: a batch, say.
      if (isNotOpen(error)) throw toReadProblem(error)!
      const { problem, first } = this.#health.markFailed(error)
      const { service } = this.#options
      if (first)
        this.#log.error({ err: error }, `${service}: a write failed; none is taken until the data are known good`)
      throw problem
    } finally {
      this.#health.end(number)
    }
    const settled = this.#health.waitForWrites()
    if (settled) return () => settled.then(() => this.#assertHealthy())
    this.#assertHealthy()
    return undefined
  }

  /** Resolves once it can be read: at once, but while it is opened anew. Iterators and snapshots from before are gone then. */
  waitUntilOpen(): Promise<void> {
    return this.#opening
  }

  /** Resolves once all that was written is safe from a power cut. */
  flush(): Promise<void> {
    return this.write(flush)
  }

  /**
   * Resolves once all that was acknowledged before is safe from a power cut: one sync of each log, where `flush` writes tables.
   * @throws Problem `DISK_FULL`, `STORE_FAILED`
   */
  sync(): Promise<void> {
    return this.write(() => syncLogs(this.#folder))
  }

  /** What one more thread is started with. Main's alone. */
  share(): LevelShare {
    const slot = this.#freeSlots.pop() ?? this.#slots++
    this.#health.expect(slot)
    return { memory: this.memory, slot }
  }

  /** A thread is gone. Whatever it was writing is brought into a known state before others count on it. Main's alone. */
  async releaseShare({ slot }: LevelShare): Promise<void> {
    if (this.#health.isInDoubt(slot)) {
      // A new log behind which nothing can be lost, whatever the last record of the old one is.
      await flush(this.db).catch((error: unknown) => this.#health.markFailed(error))
    }
    this.#health.removeSlot(slot)
    this.#freeSlots.push(slot)
  }

  /** Idempotent. Main's last, after all threads are gone. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#disk?.close()
    await this.#recovering
    this.#updateIdentity()
    await this.#guard?.stop()
    await this.db.close()
    this.#guard?.witness.close()
    this.#health.release()
  }

  /** After this call a start detects a copy that was made before it, even at the same path. */
  #updateIdentity(): void {
    if (this.#options.share || this.#isNewHistory) return
    try {
      writeIdentity(this.#folder)
    } catch {
      // The disk is full, for instance. An older identity stays valid; without one the next start begins a new history.
    }
  }

  #assertHealthy(): void {
    const fault = this.getFault()
    if (fault) throw fault
  }

  #watchDisk(): DiskWatch {
    const write = (run: (db: ClassicLevel<K, V>) => Promise<void>) => this.write(run)
    const { service } = this.#options
    return new DiskWatch({ folder: this.#folder, service, db: this.db, health: this.#health, log: this.#log, write })
  }

  /** On main. */
  async #handleFailures(): Promise<void> {
    for (;;) {
      await this.#health.waitForFailure()
      if (this.#closing.signal.aborted) return
      this.#guard?.witness.markFailed()
      this.#recovering = this.#restoreWrites()
      await this.#recovering
    }
  }

  async #restoreWrites(): Promise<void> {
    const { service, onRecovered } = this.#options
    while (await this.#pause()) {
      // The space that a failed compaction has reserved for this.
      await removeBallast(this.#folder)
      if (!(await hasFreeSpace(this.#folder))) continue
      await this.#health.waitForWrites()
      if (!(await this.#isGood()) && !(await this.#reopen())) return
      try {
        await onRecovered?.()
      } catch (error) {
        this.#log.error({ err: error }, `${service}: the data could not be read again`)
        continue
      }
      this.#guard?.witness.markRecovered()
      this.#health.markRecovered()
      this.#log.info(`${service}: writes are taken again`)
      return
    }
  }

  /** Whether what was written could be put into synced tables, and a new log begun. */
  async #isGood(): Promise<boolean> {
    try {
      await flush(this.db)
      return true
    } catch {
      return false
    }
  }

  /** After a fault in the background LevelDB takes no writes until it is opened anew. Resolves with whether it is. */
  async #reopen(): Promise<boolean> {
    await this.#health.requestClose()
    do {
      try {
        await this.db.close()
        await this.db.open()
        await flush(this.db)
        this.#health.allowOpen()
        return true
      } catch (error) {
        const { service } = this.#options
        this.#log.error({ err: error }, `${service}: the data could not be opened anew`)
      }
    } while (await this.#pause())
    return false
  }

  /** On the other threads. */
  async #follow(): Promise<void> {
    for (;;) {
      await this.#health.waitForCloseRequest()
      if (this.#closing.signal.aborted) return
      await (this.#opening = this.#closeAndReopen())
    }
  }

  async #closeAndReopen(): Promise<void> {
    await this.db.close()
    this.#health.release()
    await this.#health.acquire()
    await this.db.open()
  }

  /** Resolves with whether to go on. */
  async #pause(): Promise<boolean> {
    const { signal } = this.#closing
    await delay(RETRY_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined)
    return !signal.aborted
  }
}

/** Opens a LevelDB as `openLevel` does, for all threads of a process to write to. @throws StartError as `openLevel` */
export async function openSharedLevel<K = string, V = string>(
  folder: string,
  options: SharedLevelOptions<K, V>,
): Promise<SharedLevel<K, V>> {
  const { share, log: _log, onRecovered: _onRecovered, watchDisk: _watchDisk, ...rest } = options
  const { memory, slot } = share ?? { memory: createHealthMemory(), slot: MAIN_SLOT }
  const health = new WriteHealth({ memory, slot })
  if (share) await health.acquire()
  else health.expect(slot)
  try {
    const isNewHistory = !share && !hasSameIdentity(folder)
    const { db, verification, isShared, wasCleared } = await openVerifiedLevel(folder, rest, share !== undefined)
    if (wasCleared) {
      const { service, log = createLogger('info', { service }, []) } = options
      log.error(
        `${service}: data folder ${folder} had rows without its position in the log; it is made again from the log`,
      )
    }
    const guard = isShared ? undefined : await createFolderGuard(folder, options, health, verification)
    return new SharedLevel(db, health, folder, memory, options, isNewHistory, guard)
  } catch (error) {
    health.release()
    throw error
  }
}

/** Loaded by main alone. */
async function createFolderGuard<K, V>(
  folder: string,
  { service, log = createLogger('info', { service }, []) }: SharedLevelOptions<K, V>,
  health: WriteHealth,
  verification: FolderVerification | undefined,
): Promise<FolderGuard> {
  const { FolderGuard } = await import('./integrity/folder-guard.ts')
  return new FolderGuard({ folder, service, health, log, verification })
}

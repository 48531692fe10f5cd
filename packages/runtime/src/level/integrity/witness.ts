import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readBootId } from '../boot-id.ts'
import { syncFile } from '../data-format.ts'
import { computeCrc32c } from '../files/crc32c.ts'
import { listLevel } from '../files/level-files.ts'

// A log or a manifest that is truncated at the end of a record looks complete. So the witness `level/state.json`
// records the lengths of these files. It is in the same folder, so copies of the folder include it. Updates overwrite
// the allocated block: they need no free space, and only one call. Only the last update of a process, which records the
// orderly close, is synced.

const WITNESS_FILE = join('level', 'state.json')
const BLOCK_BYTES = 1_024

/** Contents of `level/state.json`. */
export interface Witness {
  /** Boot id of the machine; `undefined` if the system has none. */
  readonly boot?: string | undefined
  /** True if the process closed in order. Then all data is on the disk. */
  readonly isClean: boolean
  readonly manifest: string
  readonly manifestBytes: number
  /** Logs with their sizes (bytes). */
  readonly logs: Readonly<Record<string, number>>
  /** Logs to which a write has failed. */
  readonly failedLogs: readonly string[]
}

/**
 * Reads the witness. `undefined` if it is missing, half written or damaged: such a witness must not reject files that
 * are complete.
 */
export function readWitness(folder: string): Witness | undefined {
  try {
    const [json, checksum] = readFileSync(join(folder, WITNESS_FILE), 'latin1').trimEnd().split(' ')
    return checksum === computeChecksum(json!) ? JSON.parse(json!) : undefined
  } catch {
    return undefined
  }
}

const computeChecksum = (json: string) => computeCrc32c(Buffer.from(json)).toString(16)

/** Returns the size (bytes). `undefined` if the file does not exist. */
export function getFileSize(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size
}

/** Returns the name of the manifest that LevelDB uses, from `CURRENT`. */
export const readCurrentManifest = (location: string): string =>
  readFileSync(join(location, 'CURRENT'), 'utf8').replace(/\n$/, '')

/** An open `level/state.json`, for updates. */
export class WitnessFile {
  readonly #location: string
  readonly #descriptor: number
  /** Size of the file with its padding (bytes). It never shrinks. */
  #bytes: number
  readonly #boot = readBootId()
  #manifest: string
  #logs: Record<string, number> = {}
  #failedLogs: string[]

  /**
   * @param failedLogs logs to which writes of an earlier process failed; they may still exist
   * @throws Error if the file cannot be written
   */
  constructor(folder: string, failedLogs: readonly string[]) {
    this.#location = join(folder, 'level')
    this.#descriptor = openSync(join(folder, WITNESS_FILE), constants.O_CREAT | constants.O_WRONLY, 0o644)
    this.#bytes = fstatSync(this.#descriptor).size
    this.#manifest = readCurrentManifest(this.#location)
    this.#failedLogs = [...failedLogs]
    this.update(false)
  }

  /**
   * Records the lengths of the files.
   * @param hasFailed true if a write has failed and the database has not recovered since
   */
  update(hasFailed: boolean): void {
    // LevelDB begins a new log only when the last one stops growing. So the folder, which may have thousands of tables,
    // is rarely listed.
    const before = Object.values(this.#logs).reduce((sum, size) => sum + size, 0)
    this.#measure(Object.keys(this.#logs))
    const after = Object.values(this.#logs).reduce((sum, size) => sum + size, 0)
    if (after <= before || hasFailed) this.#measure(listLevel(this.#location).logs.values())
    this.#failedLogs = hasFailed
      ? Object.keys(this.#logs)
      : this.#failedLogs.filter((name) => this.#logs[name] !== undefined)
    this.#write(false)
  }

  /**
   * Records that writes succeed again. All logs except the newest count as failed from then on. Call this also after the
   * database was reopened.
   */
  markRecovered(): void {
    this.#manifest = readCurrentManifest(this.#location)
    this.#measure(listLevel(this.#location).logs.values())
    this.#failedLogs = Object.keys(this.#logs).slice(0, -1)
    this.#write(false)
  }

  /**
   * Call this after the database is closed.
   * @param isGood true if all writes are known to be good: syncs the files and records them as complete
   */
  close(isGood: boolean): void {
    try {
      this.#logs = {}
      this.update(!isGood)
      if (!isGood) return
      for (const name of [this.#manifest, ...Object.keys(this.#logs)]) syncFile(join(this.#location, name))
      this.#write(true)
      fsyncSync(this.#descriptor)
    } finally {
      closeSync(this.#descriptor)
    }
  }

  #measure(names: Iterable<string>): void {
    const logs: Record<string, number> = {}
    for (const name of names) {
      const size = getFileSize(join(this.#location, name))
      if (size !== undefined) logs[name] = size
    }
    this.#logs = logs
  }

  #write(isClean: boolean): void {
    const witness: Witness = {
      boot: this.#boot,
      isClean,
      manifest: this.#manifest,
      manifestBytes: getFileSize(join(this.#location, this.#manifest)) ?? 0,
      logs: this.#logs,
      failedLogs: this.#failedLogs,
    }
    const json = JSON.stringify(witness)
    const text = `${json} ${computeChecksum(json)}`
    this.#bytes = Math.max(this.#bytes, Math.ceil((text.length + 1) / BLOCK_BYTES) * BLOCK_BYTES)
    writeSync(this.#descriptor, `${text.padEnd(this.#bytes - 1)}\n`, 0)
  }
}

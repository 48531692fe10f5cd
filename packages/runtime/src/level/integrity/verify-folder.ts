import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBootId } from '../boot-id.ts'
import { checkLogs, isZero, type LogFile } from '../files/log-chain.ts'
import { listLevel, parseManifestNumber, type LevelFiles } from '../files/level-files.ts'
import { readManifest, type LiveTable, type LevelManifest } from '../files/level-manifest.ts'
import { checkTableSync } from '../files/read-table.ts'
import type { Drop } from '../files/log-records.ts'
import { describeRow } from './own-row.ts'
import { RowSearch } from '../files/row-search.ts'
import type { DamagedPart } from '../files/level-table.ts'
import type { Finding, FolderVerification, VerifyOptions } from './folder-verification.ts'
import { readWitness, getFileSize, type Witness } from './witness.ts'

/**
 * Checks `<folder>/level` before LevelDB opens it. The opening deletes files that LevelDB considers obsolete, and skips
 * damaged records of logs silently. Reads only.
 * @throws Error if the folder cannot be read
 */
export function verifyFolder(folder: string, options: VerifyOptions): FolderVerification {
  const check = new FolderCheck(folder)
  check.run(options)
  return check
}

class FolderCheck implements FolderVerification {
  readonly findings: Finding[] = []
  lostChanges = 0
  unread: LiveTable[] = []
  manifest: LevelManifest | undefined
  failedLogs: readonly string[] = []
  manifestEnd: FolderVerification['manifestEnd']
  readonly #folder: string
  readonly #location: string
  readonly #files: LevelFiles

  constructor(folder: string) {
    this.#folder = folder
    this.#location = join(folder, 'level')
    this.#files = listLevel(this.#location)
  }

  run({ maxTableBytes, maxTableMs, ownKey }: VerifyOptions): void {
    const name = this.#readCurrentManifest()
    if (!name) return
    const last = readWitness(this.#folder)
    // A file certainly has its recorded length only if it was synced, or if the machine was not restarted since.
    const isCertain = last !== undefined && (last.isClean || last.boot === readBootId())
    const witness = this.#selectWitness(name, last, isCertain)
    const hasCertainSizes = isCertain && witness !== undefined
    this.#checkManifest(name, hasCertainSizes ? witness : undefined)
    if (!this.manifest) return
    const search = ownKey && new RowSearch(ownKey)
    this.#checkLogs(this.manifest, witness, hasCertainSizes, (payload) => search?.takeRecord(payload))
    this.#checkTables(this.manifest, maxTableBytes, maxTableMs)
    // In a damaged folder, the damage may be the reason why the row is not found.
    if (search && this.findings.length === 0) this.#findRow(this.manifest, search, ownKey)
  }

  #add(name: string, problem: string, block?: DamagedPart['block']): void {
    this.findings.push({ file: join('level', name), problem, ...(block && { block }) })
  }

  /** Reads the name of the manifest from `CURRENT`. */
  #readCurrentManifest(): string | undefined {
    let text = ''
    try {
      text = readFileSync(join(this.#location, 'CURRENT'), 'utf8')
    } catch (error) {
      // Other errors are no damage of the file.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#add('CURRENT', explainReadError(error))
      return undefined
    }
    const name = text.replace(/\n$/, '')
    if (text === '') this.#add('CURRENT', 'it is empty')
    else if (parseManifestNumber(name) === undefined || !text.endsWith('\n'))
      this.#add('CURRENT', 'it names no manifest')
    else if (!this.#files.manifests.has(parseManifestNumber(name)!))
      this.#add(name, 'it is missing, although CURRENT names it')
    else return name
    return undefined
  }

  /** Returns the witness (`level/state.json`) if it describes the last opening of the database. */
  #selectWitness(name: string, witness: Witness | undefined, isCertain: boolean): Witness | undefined {
    if (!witness) return undefined
    const [named, known] = [parseManifestNumber(name)!, parseManifestNumber(witness.manifest) ?? 0]
    if (named < known && isCertain) this.#add('CURRENT', `it names ${name}, but ${witness.manifest} was used last`)
    if (named !== known) return undefined
    this.failedLogs = witness.failedLogs
    return witness
  }

  #checkManifest(name: string, witness: Witness | undefined): void {
    try {
      const bytes = readFileSync(join(this.#location, name))
      if (witness && bytes.length < witness.manifestBytes)
        return this.#add(name, `it has ${bytes.length} bytes, and had ${witness.manifestBytes} before`)
      const isClosed = witness?.isClean && bytes.length === witness.manifestBytes
      this.manifest = readManifest(bytes)
      for (const drop of this.manifest.drops) {
        const { offset, reason } = drop
        // A torn last record is no damage: LevelDB relies on a record of the manifest only after a sync of the record.
        if (reason === 'torn' && !isClosed) continue
        if (!witness && hasZeroTail(bytes, drop))
          this.manifestEnd ??= { file: join(this.#location, name), bytes: offset }
        else this.#add(name, `at byte ${offset}: the record is damaged (${reason})`)
      }
    } catch (error) {
      this.#add(name, explainReadError(error))
    }
  }

  #findRow({ tables }: LevelManifest, search: RowSearch, key: Buffer): void {
    for (const table of tables.values())
      search.takeTable(join(this.#location, this.#files.tables.get(table.number)!), table)
    if (search.isMissing)
      this.findings.push({ file: 'level', problem: `it has data, but not the service's own row ${describeRow(key)}` })
  }

  #checkLogs(
    manifest: LevelManifest,
    witness: Witness | undefined,
    hasCertainSizes: boolean,
    onRecord: (payload: Buffer) => void,
  ): void {
    const { logNumber } = manifest
    const live = [...this.#files.logs].filter(([number]) => number >= logNumber)
    if (logNumber > 0 && live[0]?.[0] !== logNumber)
      this.#add(`${String(logNumber).padStart(6, '0')}.log`, 'it is missing, although the manifest names it')
    const logs: LogFile[] = []
    let isWhole = hasCertainSizes && witness!.isClean
    for (const [, name] of live) {
      try {
        const bytes = readFileSync(join(this.#location, name))
        logs.push({ name, bytes, hasFailed: this.failedLogs.includes(name) })
        isWhole &&= bytes.length === witness!.logs[name]
      } catch (error) {
        this.#add(name, explainReadError(error))
      }
    }
    if (hasCertainSizes) this.#compareSizes(manifest, witness!, logs)
    const report = checkLogs(logs, {
      mayHaveHoles: !hasCertainSizes,
      mayBeTorn: !isWhole,
      sequenceBefore: manifest.sequenceAtLog,
      onRecord,
    })
    for (const { name, problem } of report.findings) this.#add(name, problem)
    const tail = hasCertainSizes ? 0 : Math.max(0, manifest.lastSequence - report.lastSequence)
    this.lostChanges = report.lost + tail
  }

  #compareSizes({ logNumber }: LevelManifest, witness: Witness, logs: readonly LogFile[]): void {
    const found = new Map(logs.map(({ name, bytes }) => [name, bytes.length]))
    for (const [name, bytes] of Object.entries(witness.logs)) {
      const now = found.get(name)
      // The first missing log was reported already.
      if (now === undefined && Number.parseInt(name, 10) > logNumber) this.#add(name, 'it is missing')
      if (now !== undefined && now < bytes) this.#add(name, `it has ${now} bytes, and had ${bytes} before`)
    }
  }

  #checkTables({ tables }: LevelManifest, maxBytes: number, maxMs: number): void {
    const deadline = performance.now() + maxMs
    let read = 0
    for (const table of [...tables.values()].toSorted((a, b) => b.number - a.number)) {
      const name = this.#files.tables.get(table.number)
      if (!name) {
        this.#add(`${String(table.number).padStart(6, '0')}.ldb`, 'it is missing, although the manifest names it')
        continue
      }
      const file = join(this.#location, name)
      const bytes = getFileSize(file)
      if (bytes !== table.bytes) this.#add(name, `it has ${bytes} bytes, and should have ${table.bytes}`)
      else if (read + table.bytes > maxBytes || performance.now() > deadline) this.unread.push(table)
      else {
        read += table.bytes
        this.#checkTable(file, name)
      }
    }
  }

  #checkTable(file: string, name: string): void {
    try {
      for (const { problem, block } of checkTableSync(file).damaged) this.#add(name, problem, block)
    } catch (error) {
      this.#add(name, explainReadError(error))
    }
  }
}

/** True if a record is cut off and only zeros follow: the file has its new length, but not its new bytes. */
function hasZeroTail(bytes: Buffer, { reason, offset, claimedEnd }: Drop): boolean {
  return isZero(bytes, reason === 'zeros' ? offset + 4 : Math.min(claimedEnd, bytes.length) - 1, bytes.length)
}

function explainReadError(error: unknown): string {
  const { code, message, syscall } = error as NodeJS.ErrnoException
  // A missing permission or a lack of descriptors is no evidence of damage.
  if (syscall && code !== 'ENOENT' && code !== 'EIO') throw error
  return code === 'ENOENT' ? 'it is missing' : (code ?? message)
}

import { Utf8Level } from '../utf8-level.ts'
import { constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../data-format.ts'
import { clearIdentity } from '../folder-identity.ts'
import { COPY_MARK, type DataFolder } from './data-folders.ts'
import { isLocked } from './is-locked.ts'
import { createLockedError } from './lock-error.ts'
import { listLevel, type LevelFiles } from '../files/level-files.ts'
import { readManifest, type LevelManifest } from '../files/level-manifest.ts'
import { checkTableSync } from '../files/read-table.ts'
import { readRecords, writeRecords } from '../files/log-records.ts'
import type { OwnRow } from './own-row.ts'
import { buildTable } from '../files/table-writer.ts'
import { UNLIMITED_OPTIONS, type Finding } from './folder-verification.ts'
import { verifyFolder } from './verify-folder.ts'

/** Result of a repair. */
export interface Repair {
  /** Damage that was found. If empty, the repair changed nothing. */
  readonly findings: readonly Finding[]
  /** Path of the copy of the folder as it was before the repair. Without damage, no copy is made. */
  readonly copy: string
  /** Tables without any readable block. */
  readonly lostTables: readonly string[]
  /** Blocks of tables that could not be read. */
  readonly lostBlocks: number
  /** Bytes of logs that are not records. */
  readonly lostLogBytes: number
  /** Number of entries that the folder has now; 0 if the repair changed nothing. */
  readonly entries: number
  /** Losses that the rebuild of the service's own row reports, one line each. */
  readonly lostWithRow: readonly string[]
}

/**
 * Salvages the readable entries of a damaged folder. LevelDB's own repair verifies no checksums, so it would accept
 * damaged values. Therefore this function first removes every block of a table and every record of a log that has a
 * wrong checksum. Then LevelDB builds a new manifest from the rest.
 * @throws StartError `DATA_LOCKED`
 */
export async function repairFolder(
  { service, folder }: DataFolder,
  ownRow?: OwnRow,
  now = new Date(),
): Promise<Repair> {
  if (await isLocked(folder)) throw createLockedError(service, folder)
  const { findings } = verifyFolder(folder, { ...UNLIMITED_OPTIONS, ownKey: ownRow?.key })
  const copy = `${folder}${COPY_MARK}${now.toISOString().replaceAll(':', '-')}`
  const losses = { lostTables: [] as string[], lostBlocks: 0, lostLogBytes: 0, lostWithRow: [] as readonly string[] }
  const repair = { findings, copy, entries: 0, ...losses }
  if (findings.length === 0) return repair
  await cp(folder, copy, {
    recursive: true,
    preserveTimestamps: true,
    errorOnExist: true,
    force: false,
    mode: constants.COPYFILE_FICLONE,
  })
  const location = join(folder, 'level')
  removeObsolete(location)
  const files = listLevel(location)
  for (const name of files.tables.values()) repairTable(location, name, repair)
  for (const name of files.logs.values()) repairLog(location, name, repair)
  await Utf8Level.repair(location)
  // LevelDB's repair moves logs and old manifests to `lost`. The copy of the folder has them too.
  rmSync(join(location, 'lost'), { recursive: true, force: true })
  // `state.json` describes the folder before the repair.
  rmSync(join(location, 'state.json'), { force: true })
  clearIdentity(folder)
  Object.assign(repair, await restoreOwnRow(location, ownRow))
  syncFolder(location)
  return repair
}

type Losses = { lostTables: string[]; lostBlocks: number; lostLogBytes: number }

/** Removes obsolete files, which LevelDB would have deleted. Otherwise deleted entries would reappear. */
function removeObsolete(location: string): void {
  const files = listLevel(location)
  const manifest = readNewestManifest(location, files)
  if (!manifest) return
  for (const [number, name] of files.tables)
    if (!manifest.tables.has(number)) rmSync(join(location, name), { force: true })
  for (const [number, name] of files.logs)
    if (number < manifest.logNumber) rmSync(join(location, name), { force: true })
}

/** Reads the newest manifest. `undefined` if it is damaged. */
function readNewestManifest(location: string, { manifests }: LevelFiles): LevelManifest | undefined {
  const name = [...manifests.values()].at(-1)
  try {
    const manifest = name === undefined ? undefined : readManifest(readFileSync(join(location, name)))
    return manifest?.drops.length === 0 ? manifest : undefined
  } catch {
    return undefined
  }
}

function repairTable(location: string, name: string, losses: Losses): void {
  const file = join(location, name)
  const { damaged, blocks } = checkTableSync(file)
  if (damaged.length === 0) return
  const wrong = new Set(damaged.flatMap(({ block }) => (block ? [block.offset] : [])))
  const sound = blocks?.filter(({ offset }) => !wrong.has(offset)) ?? []
  losses.lostBlocks += wrong.size
  if (sound.length > 0) return writeFileSync(file, buildTable(readFileSync(file), sound), { flush: true })
  losses.lostTables.push(name)
  rmSync(file)
}

function repairLog(location: string, name: string, losses: Losses): void {
  const file = join(location, name)
  const payloads: Buffer[] = []
  let isWhole = true
  for (const piece of readRecords(readFileSync(file))) {
    if (piece.kind === 'record') payloads.push(piece.payload)
    else {
      isWhole = false
      losses.lostLogBytes += piece.end - piece.offset
    }
  }
  if (!isWhole) writeFileSync(file, writeRecords(payloads), { flush: true })
}

/** Writes the service's own row if it is missing, and counts the entries. */
async function restoreOwnRow(
  location: string,
  ownRow: OwnRow | undefined,
): Promise<Pick<Repair, 'entries' | 'lostWithRow'>> {
  // If no table and no log could be read, there is no database.
  if (!existsSync(join(location, 'CURRENT'))) return { entries: 0, lostWithRow: [] }
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = new Utf8Level<Buffer, Buffer>(location, { ...encodings, createIfMissing: false })
  try {
    const isMissing =
      ownRow && (await db.get(ownRow.key)) === undefined && (await db.keys({ limit: 1 }).all()).length > 0
    const lostWithRow = isMissing ? await ownRow.rebuild(db) : []
    let entries = 0
    const keys = db.keys({ fillCache: false })
    for (let some = await keys.nextv(10_000); some.length > 0; some = await keys.nextv(10_000)) entries += some.length
    await keys.close()
    return { entries, lostWithRow }
  } finally {
    await db.close()
  }
}
